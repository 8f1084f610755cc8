#!/bin/sh
# moe-mistake.sh MISTAKE FILE: the mixture of experts of FILE with one mistake, most of which
# give right results nearly always.
case $1 in
# A weak signal behind the put of the choices, which it does not cover.
weak)
  sed '/mk.put %own_ids/{
s/ signal %routed\[%me, %a\]//
n
s/, !routed$//
a\    mk.signal %routed[%me, %a] on %p : !routed
}' "$2" ;;
# An expert's rows are multiplied when all chunks of tokens but one are there.
rows)
  sed '/mk.wait %brought/{
i\        %but_one = arith.subi %all_chunks, %c1 : index
s/ge %all_chunks/ge %but_one/
}' "$2" ;;
# The choices of a word are told to be marked before they are.
early)
  sed '/^func.func private @make_plan/,/^}/{
/mk.signal %marked/d
/mk.load %ids/i\    mk.signal %marked[%c0] : !all
}' "$2" ;;
# Choices are counted without waiting for them to be marked.
counts)
  sed '/mk.wait %marked/d' "$2" ;;
esac
