// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Types and layouts that do not exist.

// expected-error @+1 {{a layout is over one warpgroup or more, not 0}}
func.func private @f(tensor<64x64xf32, #mk_sm.mma<warpgroups = 0>>)

// -----

// expected-error @+1 {{a slice is of accumulators (#mk_sm.mma), not of #mk_sm.blocked<threads = 128, vector = 1>: deal its elements out by #mk_sm.blocked}}
func.func private @f(tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.blocked<threads = 128, vector = 1>>>)

// -----

// expected-error @+1 {{what is transposed without moving is accumulators (#mk_sm.mma), not #mk_sm.blocked<threads = 128, vector = 1>: deal its elements out by #mk_sm.blocked}}
func.func private @f(tensor<64x64xf32, #mk_sm.transposed<of = #mk_sm.blocked<threads = 128, vector = 1>>>)

// -----

// expected-error @+1 {{a slice of accumulators is without axis 0 or 1, not 2}}
func.func private @f(tensor<64xf32, #mk_sm.slice<axis = 2, of = #mk_sm.mma<warpgroups = 1>>>)

// -----

// expected-error @+1 {{a slice of accumulators is without axis 0 or 1, not -1}}
func.func private @f(tensor<64xf32, #mk_sm.slice<axis = -1, of = #mk_sm.mma<warpgroups = 1>>>)

// -----

// expected-error @+1 {{a layout is over whole warps, not 100 threads}}
func.func private @f(tensor<64xf32, #mk_sm.blocked<threads = 100, vector = 1>>)

// -----

// expected-error @+1 {{runs are of 1, 2, 4, 8 or 16 elements, not 3}}
func.func private @f(tensor<64xf32, #mk_sm.blocked<threads = 128, vector = 3>>)

// -----

// expected-error @+1 {{runs are of 1, 2, 4, 8 or 16 elements, not 32}}
func.func private @f(tensor<64xf32, #mk_sm.blocked<threads = 128, vector = 32>>)

// -----

// expected-error @+1 {{a ring has 1 to 64 slots, not 0}}
func.func private @f(!mk_sm.ring<0, tensor<64x64xbf16>>)

// -----

// expected-error @+1 {{a ring has 1 to 64 slots, not 65}}
func.func private @f(!mk_sm.ring<65, tensor<64x64xbf16>>)

// -----

// expected-error @+1 {{a slot holds tiles of static shape and at least one dimension, without a layout, not 'f32'}}
func.func private @f(!mk_sm.ring<2, f32>)

// -----

// expected-error @+1 {{a slot holds tiles of static shape and at least one dimension, without a layout, not 'tensor<?x64xbf16>'}}
func.func private @f(!mk_sm.ring<2, tensor<?x64xbf16>>)

// -----

// expected-error @+1 {{a slot holds tiles of static shape and at least one dimension, without a layout, not 'tensor<f32>'}}
func.func private @f(!mk_sm.ring<2, tensor<f32>>)

// -----

// expected-error @+1 {{a staged tile of one dimension has elements of 32 or 64 bits, not of 'bf16'}}
func.func private @f(!mk_sm.ring<2, tensor<64xbf16>>)

// -----

// expected-error @+1 {{a staged tile has 1 to 65535 elements of a dimension, 'tensor<65536xf32>' has not}}
func.func private @f(!mk_sm.ring<2, tensor<65536xf32>>)

// -----

// expected-error @+1 {{tiles of one dimension come last in a slot; 'tensor<64x64xbf16>' is behind one: list it before}}
func.func private @f(!mk_sm.ring<2, tensor<64xf32>, tensor<64x64xbf16>>)

// -----

// expected-error @+1 {{a slot holds tiles of static shape and at least one dimension, without a layout, not 'tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>'}}
func.func private @f(!mk_sm.slot<tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>>)

// -----

// expected-error @+1 {{a staged tile has elements of 8, 16, 32 or 64 bits, not of 'index'}}
func.func private @f(!mk_sm.staged<tensor<64x64xindex>>)

// -----

// expected-error @+1 {{a staged tile has elements of 8, 16, 32 or 64 bits, not of 'i256'}}
func.func private @f(!mk_sm.staged<tensor<64x64xi256>>)

// -----

// expected-error @+1 {{a staged tile lies in pieces of 16 bytes, 8 elements of 'bf16'; 60 columns of 'tensor<64x60xbf16>' are no multiple of that, the next is 64}}
func.func private @f(!mk_sm.ring<2, tensor<64x60xbf16>>)

// -----

// expected-error @+1 {{a staged tile lies in pieces of 16 bytes, 8 elements of 'bf16'; 0 columns of 'tensor<64x0xbf16>' are no multiple of that, the next is 8}}
func.func private @f(!mk_sm.ring<2, tensor<64x0xbf16>>)

// -----

// expected-error @+1 {{a staged tile has two dimensions that are not 1, 'tensor<2x64x64xbf16>' has more}}
func.func private @f(!mk_sm.slot<tensor<2x64x64xbf16>>)

// -----

// expected-error @+1 {{a staged tile has 1 to 65535 rows and columns, 'tensor<0x64xbf16>' has not}}
func.func private @f(!mk_sm.ring<2, tensor<0x64xbf16>>)

// -----

// expected-error @+1 {{a staged tile has 1 to 65535 rows and columns, 'tensor<4611686018427387904x64xbf16>' has not}}
func.func private @f(!mk_sm.ring<2, tensor<4611686018427387904x64xbf16>>)

// -----

// expected-error @+1 {{a mailbox has 1 to 64 slots of 1 to 16 words, not 0 of 1}}
func.func private @f(!mk_sm.mailbox<0, words = 1>)

// -----

// expected-error @+1 {{a mailbox has 1 to 64 slots of 1 to 16 words, not 2 of 17}}
func.func private @f(!mk_sm.mailbox<2, words = 17>)

// -----

// expected-error @+1 {{a staging area has 1 to 8 buffers, not 9}}
func.func private @f(!mk_sm.staging<9>)
