// RUN: mk-opt %s -mk-sm-share-copies -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh () {
  mk.role @a ctas(2) {}
  // expected-error @+1 {{has no number of CTAs yet: run mk-assign-ctas}}
  mk.role @b ctas(rest) {}
}
