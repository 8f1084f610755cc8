// RUN: mk-opt %s -split-input-file | mk-opt -split-input-file | FileCheck %s
// RUN: mk-opt %s -split-input-file -mlir-print-op-generic | mk-opt -split-input-file | FileCheck %s

// CHECK: module attributes {mk.target = #mk.target<name = "box", backend = "host", grid = 4>}
module attributes {mk.target = #mk.target<grid = 4, backend = "host", name = "box">} {}

// -----

// CHECK: module attributes {mk.target = #mk.target<name = "small", backend = "sm_90a", grid = 2,
// CHECK-SAME: sm = <threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
// CHECK-SAME: registers = <of_sm = 65536, least = 24, most = 256, step = 8,
// CHECK-SAME: reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
// CHECK-SAME: #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
// CHECK-SAME: #mk.register_split<warpgroups = 1, producer = 24, consumer = 256, above = 128>]>,
// CHECK-SAME: matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
// CHECK-SAME: pending = 7, operands = [bf16, f8E4M3FN], transposed = [bf16]>,
// CHECK-SAME: tensor_maps = <count = 8, rank = 3, box = 128>,
// CHECK-SAME: thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>>}
module attributes {mk.target = #mk.target<name = "small", backend = "sm_90a", grid = 2, sm = <
  threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 1, producer = 24, consumer = 256, above = 128>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16, f8E4M3FN], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>>} {}

// -----

// Fields are printed in the order of the dialect, whatever their order was.
// CHECK: thresholds = <ring_depth = 2, small_ring_depth = 64, small_slot = 1, put_slots = 2, put_slot = 32, unrolled_parts = 1, cheap_ops = 1, spilled_elements = 1,
// CHECK-SAME: busy_slots = 1, paired_turns = 16, known_turns = 2, few_turns = 2, short_folds = 24, parts_ahead = 1, item_parts = 1, sliced_parts = 2, guarded_elements = 1, reduce_chains = 1,
// CHECK-SAME: loaded_elements = 16, grouped_elements = 48, reloaded_elements = 1, exchanged_elements = 128, posted_rows = 64, posted_spread = 0,
// CHECK-SAME: parts_together = 16, item_slices = 64, slice_rows = 1, mailbox_slots = 64, merged_signals = 64, notified_peers = 0, posted_nap = 0, posted_share = 100, moved_units = 1, multicast_units = 32, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 1, large_put = 1, stored_pieces = 16>>,
// CHECK-SAME: rates = <products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
// CHECK-SAME: sustained = 675000, memory = 3692, written = 3692, latency = 0, launch = 0, item = 0, split = 0, few_sms = 130,
// CHECK-SAME: line = 64, off_line = 100, by_threads = 1000, beside = 200, apart = 105, uneven = 120, packing = 0, join = 0, clock = 100, overlap = 1, memory_overlap = 64, reduction = 0>,
// CHECK-SAME: links = <by_ctas = 1, ctas_begin = 0, by_engines = 2, engines_begin = 3, by_stores = 4, copy = 0, beside = 100>>}
module attributes {mk.target = #mk.target<name = "timed", backend = "sm_90a", grid = 2, sm = <
  threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16, f8E4M3FN], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <stored_pieces = 16, large_put = 1, marked_elements = 1,
    multicast_units = 32, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, moved_units = 1, posted_share = 100, posted_nap = 0, notified_peers = 0, merged_signals = 64, mailbox_slots = 64, slice_rows = 1, item_slices = 64, parts_together = 16,
    posted_spread = 0, posted_rows = 64, reloaded_elements = 1, exchanged_elements = 128, grouped_elements = 48, loaded_elements = 16,
    reduce_chains = 1, guarded_elements = 1, sliced_parts = 2, item_parts = 1, parts_ahead = 1, few_turns = 2, short_folds = 24, known_turns = 2, paired_turns = 16,
    busy_slots = 1, ring_depth = 2, small_ring_depth = 64, small_slot = 1, put_slots = 2, put_slot = 32,
    unrolled_parts = 1, cheap_ops = 1, spilled_elements = 1>>,
  rates = <reduction = 0, memory_overlap = 64, overlap = 1, clock = 100, join = 0, packing = 0, uneven = 120, apart = 105, beside = 200, by_threads = 1000, off_line = 100, line = 64,
    products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
    sustained = 675000, memory = 3692, written = 3692, latency = 0, launch = 0, item = 0, split = 0, few_sms = 130>,
  links = <beside = 100, by_stores = 4, copy = 0, engines_begin = 3, by_engines = 2, ctas_begin = 0, by_ctas = 1>>} {}
