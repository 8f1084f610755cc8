// A product whose CTAs form clusters and share copies. The CTA that computes tile `at` counts at an element that does not
// exist: its launch has to end with a report, while the other CTAs of the cluster still get their copies. See
// reopen.py.
!a = tensor<?x?xbf16, #mk.extents<TM, TK>>
!b = tensor<?x?xbf16, #mk.extents<TN, TK>>
!acc = tensor<?x?xf32, #mk.extents<TM, TN>>
!c = tensor<?x?xbf16, #mk.extents<TM, TN>>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @clusters on @mesh dims(uniform M, uniform N, uniform K) (
    in %at : memref<1xi32> [1], in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %tm = mk.param "TM" = 128
  %tn = mk.param "TN" = 128
  %tk = mk.param "TK" = 64
  %cm = mk.param "CLUSTER_M" = 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %group_rows = arith.muli %tm, %cm : index
  %groups = arith.ceildivui %M, %group_rows : index
  %columns = arith.ceildivui %N, %tn : index
  %steps = arith.ceildivui %K, %tk : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0[%tm, %tn] : !acc
  %seen = mk.counters() : !mk.counter<2>
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n, %i) in (%groups, %columns, %cm) {
      %row0 = arith.muli %m, %group_rows : index
      %row1 = arith.muli %i, %tm : index
      %row = arith.addi %row0, %row1 : index
      %column = arith.muli %n, %tn : index
      %acc = mk.fold (%kt) in (%steps) iter(%sum = %zero) combine(add) : !acc {
        %k = arith.muli %kt, %tk : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> !a
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> !b
        %next = mk.dot %x, %y, %sum transpose_b : !a, !b, !acc
        mk.yield %next : !acc
      }
      %out = arith.truncf %acc : !acc to !c
      mk.store %out, %c[%row, %column] : !c, memref<?x?xbf16>
      %number = memref.load %at[%c0] : memref<1xi32>
      %at_ = arith.index_cast %number : i32 to index
      %first = arith.muli %m, %cm : index
      %down = arith.addi %first, %i : index
      %before = arith.muli %down, %columns : index
      %own = arith.addi %before, %n : index
      %is = arith.cmpi eq, %own, %at_ : index
      %element = arith.select %is, %c2, %c0 : index
      %old = mk.count %seen[%element] add %c1 : !mk.counter<2>
    }
  }
}
