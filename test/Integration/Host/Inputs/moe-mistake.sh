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
# Blocks are filled when all lists but one are made.
lists)
  sed '/^func.func private @fill_blocks/,/^}/{
/mk.wait %planned/{
i\  %but_one = arith.subi %experts, %c1 : index
s/ge %experts/ge %but_one/
}
}' "$2" ;;
# The tokens of an expert are told to be counted before their number is stored.
early)
  sed '/mk.store %total, %counts/{
h
d
}
/mk.signal %counted/G' "$2" ;;
# Lists are made without waiting for the counts before them.
counts)
  sed '/mk.wait %counted/d' "$2" ;;
esac
