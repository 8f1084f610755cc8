// RUN: mk-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has 3 : i64 as 'mk.dim' of argument 1: it is the name of a dimension, a string}}
func.func private @number(%a: tensor<?xf64>, %n: index {mk.dim = 3})

// -----

// expected-error @+1 {{has the attribute 'mk.dims' on argument 0: there is only 'mk.dim', the name of a dimension}}
func.func private @other(%n: index {mk.dims = "N"})
