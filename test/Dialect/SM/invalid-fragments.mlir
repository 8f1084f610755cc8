// RUN: mk-opt %s -split-input-file -verify-diagnostics

func.func @dealt_out(%x: tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up the rows of a tile with layout #mk_sm.mma, not of 'tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>'}}
  %p = mk_sm.partial_sum %x : tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>
  return
}

// -----

func.func @no_layout(%x: tensor<128x64xf32>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up the rows of a tile with layout #mk_sm.mma, not of 'tensor<128x64xf32>'}}
  %p = mk_sm.partial_sum %x : tensor<128x64xf32>
  return
}

// -----

func.func @columns(%x: tensor<128x60xf32, #mk_sm.mma<warpgroups = 2>>) {
  // expected-error @+1 {{60 columns are no multiple of 8; the next is 64}}
  %p = mk_sm.partial_sum %x : tensor<128x60xf32, #mk_sm.mma<warpgroups = 2>>
  return
}
