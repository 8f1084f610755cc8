// Round numbers, for formulas that can be followed by hand.
module attributes {mk.target = #mk.target<name = "machine", backend = "sm_90a", grid = 10, sm = <
  threads = 1024, cluster = 8, shared = 232448, exchange = 32768, chunk = 128, access = 16, sector = 32,
  registers = <of_sm = 65536, least = 24, most = 256, step = 8,
    reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
    #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>,
    #mk.register_split<warpgroups = 3, producer = 32, consumer = 160>,
    #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>]>,
  matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
    pending = 7, operands = [bf16, f16, f32, f8E4M3FN, f8E5M2], transposed = [bf16, f16]>,
  tensor_maps = <count = 64, rank = 5, box = 256>,
  thresholds = <ring_depth = 8, small_ring_depth = 12, small_slot = 16384, put_slots = 6,
    put_slot = 16384, unrolled_parts = 6, cheap_ops = 4, spilled_elements = 80,
    busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536, item_parts = 8, sliced_parts = 16,
    guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32,
    reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500,
    parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8,
    notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16, marked_elements = 8, large_put = 4194304, stored_pieces = 4>>,
  rates = <products = 1000, operands = 1000, copies = 1000, fetch = 1000, cache = 1000, elements = 100, functions = 100,
    sustained = 100000, memory = 400, written = 400, latency = 0, launch = 2000, item = 1000, split = 9000, few_sms = 100, line = 128, off_line = 150, by_threads = 1800, beside = 250,
 apart = 110, uneven = 110, packing = 2000, join = 0, clock = 100, overlap = 10, memory_overlap = 3, reduction = 150>>} {}
