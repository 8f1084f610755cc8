#!/bin/sh
# ranks.sh LAUNCHER NODES RANKS-OF-A-NODE COMMAND...: runs COMMAND as every rank of
# a job, with the variables that torchrun or srun would set. All on this machine,
# which the variables call several nodes. Ends with the first status that is not 0.
launcher=$1 nodes=$2 local=$3
shift 3
id=$$
pids=
for node in $(seq 0 $((nodes - 1))); do
  for rank in $(seq 0 $((local - 1))); do
    case $launcher in
    torchrun)
      env RANK=$((node * local + rank)) WORLD_SIZE=$((nodes * local)) \
        LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$local GROUP_RANK=$node \
        MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$id "$@" &
      ;;
    srun)
      env SLURM_PROCID=$((node * local + rank)) SLURM_NTASKS=$((nodes * local)) \
        SLURM_LOCALID=$rank SLURM_NODEID=$node SLURM_JOB_ID=$id SLURM_STEP_ID=0 \
        SLURM_STEP_NODELIST=localhost "$@" &
      ;;
    esac
    pids="$pids $!"
  done
done
status=0
for pid in $pids; do
  wait $pid || status=$?
done
exit $status
