#!/bin/sh
# of-rank.sh RANK NAME=VALUE COMMAND...: runs COMMAND, with the variable on that rank of
# torchrun alone.
rank=$1 setting=$2
shift 2
if [ "$RANK" = "$rank" ]; then
  exec env "$setting" "$@"
fi
exec "$@"
