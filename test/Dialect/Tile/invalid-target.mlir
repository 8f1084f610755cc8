// RUN: mk-opt %s -split-input-file -verify-diagnostics

// What descriptions of targets may not say.

// expected-error @+1 {{has 3 : i64 as 'mk.target': it is a #mk.target}}
module attributes {mk.target = 3} {}

// -----

// expected-error @+1 {{has the attribute 'mk.target', which says what a module is compiled for: give it to the module}}
func.func private @f() attributes {mk.target = #mk.target<name = "host", backend = "host", grid = 1>}

// -----

// expected-error @+1 {{a target without a name: write name = "what messages call it", backend = "who makes its code"}}
module attributes {mk.target = #mk.target<name = "", backend = "host", grid = 1>} {}

// -----

// expected-error @+1 {{a target without a backend: write name = "what messages call it", backend = "who makes its code"}}
module attributes {mk.target = #mk.target<name = "x", backend = "", grid = 1>} {}

// -----

// expected-error @+1 {{target 'x' with a grid of 0 CTAs: it is a number from 1 to 65534}}
module attributes {mk.target = #mk.target<name = "x", backend = "host", grid = 0>} {}

// -----

// expected-error @+1 {{a split of registers with warpgroups = 0: it is at least 1}}
module attributes {x = #mk.register_split<warpgroups = 0, producer = 24, consumer = 24>} {}

// -----

// expected-error @+1 {{a split of registers above -1: it is a number of registers, or is left out}}
module attributes {x = #mk.register_split<warpgroups = 1, producer = 24, consumer = 24, above = -1>} {}

// -----

// expected-error @+1 {{registers with step = 0: it is at least 1}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 0,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = []>} {}

// -----

// expected-error @+1 {{registers of a thread from 24 to 255: both are multiples of the step, 8, in this order}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 255, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = []>} {}

// -----

// expected-error @+1 {{gives movers other registers than a multiple of 8 from 24 to 256}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 50, gatherer = 64, net_mover = 104>, splits = []>} {}

// -----

// expected-error @+1 {{'splits' holds 1 : i64: each is a #mk.register_split}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [1]>} {}

// -----

// expected-error @+1 {{gives a thread 20 registers: it is a multiple of 8 from 24 to 256}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
  #mk.register_split<warpgroups = 1, producer = 20, consumer = 240>]>} {}

// -----

// expected-error @+1 {{takes 37888 registers; an SM has 32768}}
module attributes {x = #mk.registers<of_sm = 32768, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
  #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>]>} {}

// -----

// expected-error @+1 {{'splits' is empty: give a #mk.register_split for each number of warpgroups that a consumer may have}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = []>} {}

// -----

// expected-error @+1 {{there is no split of registers without 'above' for 1 warpgroup: give one for each number up to 2}}
module attributes {x = #mk.registers<of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
  #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>} {}

// -----

// expected-error @+1 {{a matrix unit with rows = 0: it is at least 1}}
module attributes {x = #mk.matrix_unit<rows = 0, columns = 256, column_step = 8, k_bytes = 32,
  k_of_8_bits = 128, pending = 7, operands = [bf16], transposed = [bf16]>} {}

// -----

// expected-error @+1 {{a matrix unit of up to 250 columns in steps of 8: the first is a multiple of the second}}
module attributes {x = #mk.matrix_unit<rows = 64, columns = 250, column_step = 8, k_bytes = 32,
  k_of_8_bits = 128, pending = 7, operands = [bf16], transposed = [bf16]>} {}

// -----

// expected-error @+1 {{a matrix unit that takes 6 bytes of a row: it takes whole words of 4 bytes}}
module attributes {x = #mk.matrix_unit<rows = 64, columns = 256, column_step = 8, k_bytes = 6,
  k_of_8_bits = 128, pending = 7, operands = [bf16], transposed = [bf16]>} {}

// -----

// expected-error @+1 {{'operands' holds index: each is a type of numbers}}
module attributes {x = #mk.matrix_unit<rows = 64, columns = 256, column_step = 8, k_bytes = 32,
  k_of_8_bits = 128, pending = 7, operands = [index], transposed = []>} {}

// -----

// expected-error @+1 {{'transposed' holds f16, which is not one of 'operands'}}
module attributes {x = #mk.matrix_unit<rows = 64, columns = 256, column_step = 8, k_bytes = 32,
  k_of_8_bits = 128, pending = 7, operands = [bf16], transposed = [f16]>} {}

// -----

// expected-error @+1 {{tensor maps with count = 0: it is at least 1}}
module attributes {x = #mk.tensor_maps<count = 0, rank = 5, box = 256>} {}

// -----

// expected-error @+1 {{tensor maps of 1 dimensions and boxes of 256 elements: at least 2 dimensions, and boxes of a multiple of 8, at least 64}}
module attributes {x = #mk.tensor_maps<count = 1, rank = 1, box = 256>} {}

// -----

// expected-error @+1 {{thresholds with small_slot = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 0, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{rings of up to 65 slots: it is a number from 2 to 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 65, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{an SM with shared = 0: it is at least 1}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 0, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{CTAs of up to 300 threads: whole warpgroups of 128, at least one of a producer and one of a consumer}}
module attributes {x = #mk.sm<threads = 300, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{is for more warpgroups than the 1 that CTAs of 256 threads have beside a producer}}
module attributes {x = #mk.sm<threads = 256, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{clusters of up to 3 CTAs: it is 1, 2, 4, 8 or 16}}
module attributes {x = #mk.sm<threads = 512, cluster = 3, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{131 : i64 CTAs at once in clusters of 2: whole clusters, of up to 8 CTAs; leave clustered out where all of a grid run}}
module attributes {x = #mk.sm<threads = 512, cluster = 2, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>, clustered = [132, 131]>} {}

// -----

// expected-error @+1 {{copies that 4 CTAs share in clusters of up to 2: use a smaller cluster, or a larger cluster_limit}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>, cluster_limit = 2>} {}

// -----

// expected-error @+1 {{accesses of 3 bytes: it is 1, 2, 4, 8 or 16}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 3, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{sectors of 24 bytes: a power of two from 16 to 1024}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 128, access = 16, sector = 24,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{a reserve of 8 registers for scalars, 16 of them idle, 26 for products and 4 for left operands: none is negative, and those that idle are some of the first}}
module attributes {x = #mk.register_reserve<scalars = 8, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>} {}

// -----

// expected-error @+1 {{puts through 1 slots of 100 bytes: 2 to 64, of a multiple of 32}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 1, put_slot = 100, unrolled_parts = 1, cheap_ops = 1, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{columns of 100 bytes in shared memory: it is 16, 32, 64 or 128}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 98304, exchange = 8192, chunk = 100, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{an exchange of 1000 bytes in 98304 of shared memory: it is a part of it, and a multiple of 512}}
module attributes {x = #mk.sm<threads = 512, cluster = 4, shared = 98304, exchange = 1000, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>,
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16], transposed = [bf16]>,
  tensor_maps = <count = 8, rank = 3, box = 128>,
  thresholds = <ring_depth = 4, small_ring_depth = 8, small_slot = 8192, put_slots = 3, put_slot = 16384, unrolled_parts = 2, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>} {}

// -----

// expected-error @+1 {{thresholds with busy_slots = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 0, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with parts_ahead = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 0, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with item_parts = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 0, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with sliced_parts = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 0, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with guarded_elements = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 0, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with reduce_chains = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 0, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with reloaded_elements = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 0, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with exchanged_elements = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 0, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{turns of a loop with dots in pairs: 0, but it is an even number from 2 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 0, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{turns of a loop with dots in pairs: 3, but it is an even number from 2 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 3, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{turns of a loop with dots in pairs: 18, but it is an even number from 2 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 18, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{pieces of 24 posted rows: it is 8, 16, 32 or 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 24, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{posted tiles spread over 1000001 nanoseconds: it is between 0 and 1000000}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 1000001, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{pieces of 128 posted rows: it is 8, 16, 32 or 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 128, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{groups of 8 elements: it is a positive multiple of 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 8, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{groups of 40 elements: it is a positive multiple of 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 40, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{rates with memory = 0: it is at least 1}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 0, written = 0, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with line = 96: it is a power of two}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 96, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with latency = 1400, launch = 1158, item = -1, split = 15000, packing = 2000, join = 150, reduction = 150: times are not negative}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = -1, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with latency = 1400, launch = 1158, item = 200, split = 15000, packing = -1, join = 150, reduction = 150: times are not negative}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = -1, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with off_line = 99: it says in percent how long things take that take longer, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 99, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with by_threads = 99: it says in percent how long things take that take longer, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 99, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with beside = 99: it says in percent how long things take that take longer, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 99, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with apart = 99: it says in percent how long things take that take longer, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 99, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with uneven = 99: it says in percent how long things take that take longer, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 99, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with latency = 1400, launch = 1158, item = 200, split = 15000, packing = 2000, join = -1, reduction = 150: times are not negative}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = -1, clock = 140, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with clock = 99: it says in percent how fast products of few SMs are, at least 100}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 99, overlap = 10, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{thresholds with parts_together = 17: it is a number from 1 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 17, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with mailbox_slots = 1: it is a number from 2 to 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 1, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with known_turns = 33: it is a number from 2 to 32}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 33, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with few_turns = 33: it is a number from 2 to 32}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 33, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with merged_signals = 65: it is a number from 1 to 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 65, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with edge_boxes = 17: it is a number from 1 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 17, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with edge_rows = 257: it is a number from 0 to 256}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 257, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with stored_pieces = 17: it is a number from 1 to 16}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 17>} {}

// -----

// expected-error @+1 {{thresholds with marked_elements = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 0, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with large_put = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 0, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with notified_peers = 65: it is a number from 0 to 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 65, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with posted_nap = 1000001: it is a number from 0 to 1000000}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 1000001, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with posted_share = 101: it is a number from 1 to 100}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 101, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with item_slices = 128: it is a power of two up to 64}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 128, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with moved_units = 3: it is a power of two up to 32}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 3, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with multicast_units = 64: it is a power of two up to 32}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 64, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{thresholds with slice_rows = 0: it is at least 1}}
module attributes {x = #mk.thresholds<ring_depth = 8, small_ring_depth = 8, small_slot = 1, put_slots = 3, put_slot = 16384, unrolled_parts = 1, cheap_ops = 4, spilled_elements = 80, busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16, guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32, reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500, parts_together = 4, item_slices = 8, slice_rows = 0, mailbox_slots = 2, merged_signals = 8, notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>} {}

// -----

// expected-error @+1 {{rates with overlap = 0: it is the exponent of a sum of powers, from 1 to 64}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 0, memory_overlap = 3, reduction = 150>} {}

// -----

// expected-error @+1 {{rates with memory_overlap = 65: it is the exponent of a sum of powers, from 1 to 64}}
module attributes {x = #mk.rates<products = 6300, operands = 205, copies = 96, fetch = 90, cache = 120, elements = 145, functions = 26,
  sustained = 675000, memory = 3692, written = 3692, latency = 1400, launch = 1158, item = 200, split = 15000, few_sms = 130,
  line = 32, off_line = 210, by_threads = 1800, beside = 250, apart = 110, uneven = 130, packing = 2000, join = 150, clock = 140, overlap = 10, memory_overlap = 65, reduction = 150>} {}

// -----

// expected-error @+1 {{links with ctas_begin = 8000, engines_begin = -1, copy = 5000: times are not negative}}
module attributes {x = #mk.links<by_ctas = 280, ctas_begin = 8000, by_engines = 340, engines_begin = -1, by_stores = 330, copy = 5000, beside = 130>} {}

// -----

// expected-error @+1 {{links with beside = 99: it says in percent how long products take that take longer, at least 100}}
module attributes {x = #mk.links<by_ctas = 280, ctas_begin = 8000, by_engines = 340, engines_begin = 0, by_stores = 330, copy = 5000, beside = 99>} {}

// -----

// expected-error @+1 {{links with by_engines = 0: it is at least 1}}
module attributes {x = #mk.links<by_ctas = 280, ctas_begin = 8000, by_engines = 0, engines_begin = 0, by_stores = 330, copy = 5000, beside = 130>} {}

// -----

// expected-error @+1 {{links with by_stores = 0: it is at least 1}}
module attributes {x = #mk.links<by_ctas = 280, ctas_begin = 8000, by_engines = 340, engines_begin = 0, by_stores = 0, copy = 5000, beside = 130>} {}
