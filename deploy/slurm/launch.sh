#!/usr/bin/env bash
# Submits the shards of a run as an array, and the merge that waits for all of them.
#   launch.sh load.yaml launch-7 8 2026-12-01T10:00:00Z /shared/launch-7
# Prints the number of the merge job. Nodes need the last folder, ASSAY_BASE_URL and ASSAY_API_KEY.
set -euo pipefail
scenario=$(realpath "$1") run=$2 shards=$3 start=$4 out=$5
here=$(dirname "$(realpath "$0")")
mkdir -p "$out"
log=--output="$out/%x-%A-%a.log"
array=$(sbatch --parsable --array="0-$((shards - 1))" "$log" --job-name="$run" \
  "$here/shard.sbatch" "$scenario" "$run" "$shards" "$start" "$out")
# afterany: a shard that dies leaves a journal, and the merge says which one it was.
sbatch --parsable --dependency="afterany:$array" --output="$out/merge.log" --job-name="$run-merge" \
  "$here/merge.sbatch" "$run" "$out"
