// RUN: mk-opt %s -split-input-file -verify-diagnostics

// A thread has one element of each row, the tile has idle threads, its rows come again too late.
func.func @single(%x: tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 1>>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up rows of a tile with layout #mk_sm.mma, rows or columns of one that is dealt out without idle threads, of which a thread has several elements; not axis 1 of 'tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 1>>'}}
  %p = mk_sm.partial_sum %x : tensor<128x64xf32, #mk_sm.blocked<threads = 256, vector = 1>>
  return
}

// -----

func.func @idle(%x: tensor<12x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up rows of a tile with layout #mk_sm.mma, rows or columns of one that is dealt out without idle threads, of which a thread has several elements; not axis 1 of 'tensor<12x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>'}}
  %p = mk_sm.partial_sum %x : tensor<12x64xf32, #mk_sm.blocked<threads = 256, vector = 4>>
  return
}

// -----

func.func @late(%x: tensor<32x192xf32, #mk_sm.blocked<threads = 256, vector = 8>>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up rows of a tile with layout #mk_sm.mma, rows or columns of one that is dealt out without idle threads, of which a thread has several elements; not axis 0 of 'tensor<32x192xf32, #mk_sm.blocked<threads = 256, vector = 8>>'}}
  %p = mk_sm.partial_sum %x axis 0 : tensor<32x192xf32, #mk_sm.blocked<threads = 256, vector = 8>>
  return
}

// -----

func.func @across(%x: tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up rows of a tile with layout #mk_sm.mma, rows or columns of one that is dealt out without idle threads, of which a thread has several elements; not axis 0 of 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>'}}
  %p = mk_sm.partial_sum %x axis 0 : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
  return
}

// -----

func.func @no_layout(%x: tensor<128x64xf32>) {
  // expected-error @+1 {{'mk_sm.partial_sum' op adds up rows of a tile with layout #mk_sm.mma, rows or columns of one that is dealt out without idle threads, of which a thread has several elements; not axis 1 of 'tensor<128x64xf32>'}}
  %p = mk_sm.partial_sum %x : tensor<128x64xf32>
  return
}

// -----

func.func @columns(%x: tensor<128x60xf32, #mk_sm.mma<warpgroups = 2>>) {
  // expected-error @+1 {{60 columns are no multiple of 8; the next is 64}}
  %p = mk_sm.partial_sum %x : tensor<128x60xf32, #mk_sm.mma<warpgroups = 2>>
  return
}

// -----

func.func @scalar(%x: f32) {
  // expected-error @+1 {{operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %p = "mk_sm.partial_sum"(%x) : (f32) -> tensor<64x8xf32>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @shape(%x: tensor<128x64xf32, #acc>) {
  // expected-error @+1 {{changes only the layout, not 'tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>' to 'tensor<128x32xf32, #mk_sm.blocked<threads = 256, vector = 1>>'}}
  %y = mk_sm.convert_layout %x : tensor<128x64xf32, #acc> -> tensor<128x32xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @element(%x: tensor<128x64xf32, #acc>) {
  // expected-error @+1 {{changes only the layout, not 'tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>' to 'tensor<128x64xbf16, #mk_sm.blocked<threads = 256, vector = 1>>'}}
  %y = mk_sm.convert_layout %x : tensor<128x64xf32, #acc> -> tensor<128x64xbf16, #flat>
  return
}

// -----

#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @none(%x: tensor<128x64xf32>) {
  // expected-error @+1 {{works on fragments, but 'tensor<128x64xf32>' has no layout: give it one, such as #mk_sm.mma}}
  %y = mk_sm.convert_layout %x : tensor<128x64xf32> -> tensor<128x64xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @dynamic(%x: tensor<?x64xf32, #acc>) {
  // expected-error @+1 {{has 'tensor<?x64xf32, #mk_sm.mma<warpgroups = 2>>': fragments have extents that are numbers}}
  %y = mk_sm.convert_layout %x : tensor<?x64xf32, #acc> -> tensor<?x64xf32, #flat>
  return
}

// -----

#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @stranger(%x: tensor<128x64xf32, "here">) {
  // expected-error @+1 {{has 'tensor<128x64xf32, "here">': "here" is not a layout of fragments}}
  %y = mk_sm.convert_layout %x : tensor<128x64xf32, "here"> -> tensor<128x64xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @dimensions(%x: tensor<128xf32, #acc>) {
  // expected-error @+1 {{has 'tensor<128xf32, #mk_sm.mma<warpgroups = 2>>': accumulators are tiles of two dimensions, this one has 1}}
  %y = mk_sm.convert_layout %x : tensor<128xf32, #acc> -> tensor<128xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @rows(%x: tensor<192x64xf32, #acc>) {
  // expected-error @+1 {{has 'tensor<192x64xf32, #mk_sm.mma<warpgroups = 2>>': 192 rows cannot be split over 2 warpgroups, each of which takes blocks of 64; the next is 256}}
  %y = mk_sm.convert_layout %x : tensor<192x64xf32, #acc> -> tensor<192x64xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @matrix(%x: tensor<128x64xf32, #mk_sm.slice<axis = 1, of = #acc>>) {
  // expected-error @+1 {{a slice of accumulators has one dimension, this tile has 2}}
  %y = mk_sm.convert_layout %x : tensor<128x64xf32, #mk_sm.slice<axis = 1, of = #acc>> -> tensor<128x64xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @rows_of_slice(%x: tensor<100xf32, #mk_sm.slice<axis = 1, of = #acc>>) {
  // expected-error @+1 {{100 rows cannot be split over 2 warpgroups, each of which takes blocks of 64; the next is 128}}
  %y = mk_sm.convert_layout %x : tensor<100xf32, #mk_sm.slice<axis = 1, of = #acc>> -> tensor<100xf32, #flat>
  return
}

// -----

#acc = #mk_sm.mma<warpgroups = 2>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
func.func @columns_of_slice(%x: tensor<100xf32, #mk_sm.slice<axis = 0, of = #acc>>) {
  // expected-error @+1 {{100 columns are no multiple of 8; the next is 104}}
  %y = mk_sm.convert_layout %x : tensor<100xf32, #mk_sm.slice<axis = 0, of = #acc>> -> tensor<100xf32, #flat>
  return
}

// -----

// A layout of more threads than run the body, or of all teams.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @threads on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{has 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' over 128 threads, but its body is run by 256: use a layout over as many}}
      %p = mk_sm.partial_sum %t : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#flat = #mk_sm.blocked<threads = 256, vector = 1>
mk.kernel @teams on @mesh (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(168) teams(2) {
      %t = arith.constant dense<0.0> : tensor<64x64xf32, #flat>
      // expected-error @+1 {{has 'tensor<64x64xf32, #mk_sm.blocked<threads = 256, vector = 1>>' over 256 threads, but its body is run by 128: use a layout over as many}}
      %p = mk_sm.convert_layout %t : tensor<64x64xf32, #flat> -> tensor<64x64xf32, #acc>
    }
  }
}
