#!/bin/sh
# decide.sh FILE NAME=N,... PARAM=N,... [KERNEL [NAME=N,...]]: what the verifier decides of
# a kernel on five meshes, a line each: "NODESxGPUS: remark"; of one whose mesh has no nodes on
# two. The last are dimensions that each rank has of its own, here all the same.
file=$1 sizes=$2 params=$3 kernel=$4 own=$5
meshes='1x1 1x4 2x2 3x2 2x4'
nodes=1
grep -q '^mk.mesh .*node = ?' "$file" || { nodes= meshes='1x1 1x6'; }
for mesh in $meshes; do
  axes=${nodes:+node=${mesh%x*},}gpu=${mesh#*x}
  mk-opt --target=host --emit=tile --tuning=none --no-verify ${kernel:+--kernel="$kernel"} \
      --bind="$axes,$sizes${own:+,$own}" --set="$params" "$file" |
    mk-opt -o /dev/null -mlir-print-op-on-diagnostic=false \
      -mk-assign-ctas=grid=16 -mk-verify-progress="sizes=$axes,$sizes ${own:+rank-sizes=$own} report=true" 2>&1 |
    sed -n "s/.*\(remark\|error\): /$mesh: \1: /p"
done
