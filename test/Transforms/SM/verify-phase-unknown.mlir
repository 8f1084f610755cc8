// RUN: mk-opt %s -mk-sm-verify-phase=phase=liquid -verify-diagnostics

// expected-error @+1 {{mk-sm-verify-phase: there is no phase 'liquid'; use tiles, partitioned, overlapped, sized or placed}}
module {
}
