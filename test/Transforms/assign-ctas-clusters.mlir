// RUN: mk-opt %s -mk-assign-ctas=grid=132 | FileCheck %s --check-prefix=LARGE
// RUN: mk-opt %s -mk-assign-ctas=grid=22 | FileCheck %s --check-prefix=SMALL

// CTAs that do an item together are whole clusters, and no more than run at once in clusters of
// that size (sm_90a's `clustered`).
mk.mesh @mesh (gpu = 1 via link)

// LARGE: mk.role @alone ctas(132)
// LARGE: mk.role @pairs ctas(132)
// LARGE: mk.role @fours ctas(120)
// LARGE: mk.role @beside_others ctas(8)
// LARGE-NEXT: }
// LARGE: mk.role @eights ctas(112)
// SMALL: mk.role @alone ctas(22)
// SMALL: mk.role @pairs ctas(22)
// SMALL: mk.role @fours ctas(20)
// SMALL: mk.role @eights ctas(8)
mk.kernel @one on @mesh dims(uniform M) () {
  mk.role @alone ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static) {
    }
  }
}
mk.kernel @two on @mesh dims(uniform M) () {
  mk.role @pairs ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 2) {
    }
  }
}
mk.kernel @four on @mesh dims(uniform M) () {
  mk.role @fours ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 4) {
    }
  }
}
mk.kernel @eight on @mesh dims(uniform M) () {
  mk.role @beside_others ctas(8) {
  }
  mk.role @eights ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 8) {
    }
  }
}

// LARGE: mk.role @threes ctas(117)
// LARGE: mk.role @fives ctas(110)
// LARGE: mk.role @sixes ctas(102)
// LARGE: mk.role @sevens ctas(105)
// SMALL: mk.role @threes ctas(21)
// SMALL: mk.role @fives ctas(20)
// SMALL: mk.role @sixes ctas(18)
// SMALL: mk.role @sevens ctas(21)
mk.kernel @three on @mesh dims(uniform M) () {
  mk.role @threes ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 3) {
    }
  }
}
mk.kernel @five on @mesh dims(uniform M) () {
  mk.role @fives ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 5) {
    }
  }
}
mk.kernel @six on @mesh dims(uniform M) () {
  mk.role @sixes ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 6) {
    }
  }
}
mk.kernel @seven on @mesh dims(uniform M) () {
  mk.role @sevens ctas(rest) {
    mk.foreach (%i) in (%M) schedule(static, parts = 7) {
    }
  }
}
