#!/usr/bin/env bash
# deploy/slurm on a real Slurm of one node: an array of four tasks, the merge that waits for it, one page.
# Needs slurm-wlm and munge, and root; without them it says why, and exits with 77.
set -euo pipefail
cd "$(dirname "$0")/../.."
for need in munged slurmctld slurmd sbatch; do
  command -v "$need" >/dev/null || { echo "skipped: $need is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs root"; exit 77; }
work=$(mktemp -d)
chmod 755 "$work"
mkdir -p "$work/munge"
head -c 1024 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
chmod 700 "$work/munge"
pids=()
end() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait || true
  rm -rf "$work"
}
trap end EXIT

export SLURM_CONF="$work/slurm.conf"
cat >"$SLURM_CONF" <<CONF
ClusterName=proof
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES
CONF
mkdir "$work/state" "$work/spool"
munged --force --foreground --key-file="$work/munge/key" --socket="$work/munge/socket" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" &
pids+=($!)
until [ -S "$work/munge/socket" ]; do kill -0 "${pids[0]}"; sleep 0.1; done
slurmctld -D >"$work/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D >"$work/slurmd.log" 2>&1 &
pids+=($!)

node src/cli/assay.js serve --port 0 --json >"$work/serve.json" &
pids+=($!)
until [ -s "$work/serve.json" ]; do kill -0 "${pids[-1]}"; sleep 0.2; done
said() { node -pe "JSON.parse(fs.readFileSync('$work/serve.json', 'utf8').split('\n')[0])$1"; }
ASSAY_BASE_URL=$(said .baseUrl)
ASSAY_API_KEY=$(said ".keys[3].apiKey")
export ASSAY_BASE_URL ASSAY_API_KEY ASSAY="node $PWD/src/cli/assay.js" CLOCK_ERROR=1ms
cat >"$work/load.yaml" <<LOAD
name: array
question: Do four tasks of an array make one run?
base_url: $ASSAY_BASE_URL
model: svc-k2
max_credits: 2000
steps:
  chat: { endpoint: chat, prompt: What does an assayer do?, max_tokens: 16 }
phases: [{ name: steady, load: constant, rate: 8/s, duration: 10s }]
LOAD
until sinfo --noheader 2>/dev/null | grep -q idle; do kill -0 "${pids[1]}" "${pids[2]}"; sleep 0.5; done
start=$(date -u -d "+${START_IN:-45} seconds" +%Y-%m-%dT%H:%M:%SZ)
merge=$(deploy/slurm/launch.sh "$work/load.yaml" proof 4 "$start" "$work/out")
most=0
while squeue --noheader | grep -q .; do
  running=$(squeue --noheader --states=RUNNING --array --name=proof | wc -l)
  [ "$running" -le "$most" ] || most=$running
  sleep 0.5
done
for log in "$work"/out/*.log; do echo "== ${log##*/}"; cat "$log"; done
echo "== merge job $merge"
test -s "$work/out/proof.html"
[ "$most" = 4 ] || { echo "only $most tasks ran at once"; exit 1; }
grep -q 'attempts 80 = sent 80' "$work/out/merge.log"
echo "four tasks, one merge, one page"
