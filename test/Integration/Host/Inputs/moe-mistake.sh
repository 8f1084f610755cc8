#!/bin/sh
# moe-mistake.sh MISTAKE FILE: the mixture of experts of FILE with one mistake, most of which
# give right results nearly always.
case $1 in
# A weak signal behind the put of the choices, which it does not cover.
weak)
  sed '/mk.put %own_ids/{
s/ signal %routed\[%me\]//
n
s/, !routed$//
a\    mk.signal %routed[%me] on %p : !routed
}' "$2" ;;
# Blocks are gathered when all lists but one are made.
lists)
  sed '/^func.func private @gather_blocks/,/^}/{
/mk.wait %planned/{
i\      %but_one = arith.subi %all_pieces, %c1 : index
s/ge %all_pieces/ge %but_one/
}
}' "$2" ;;
# The tokens of a piece are told to be counted before their numbers are stored.
early)
  sed '/mk.signal %counted/d
/mk.wait %routed\[%s\] ge %sent/a\    mk.signal %counted[%c0] : !all' "$2" ;;
# Rows are found without waiting for the counts.
counts)
  sed '/mk.wait %counted/d' "$2" ;;
esac
