#!/bin/bash
# Tests of tools/lab without a GPU: lab_test.sh LAB. An MPS that only remembers what it was told stands
# in for NVIDIA's, and an mpirun that starts ranks one after the other for Open MPI's.
set -u
lab=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
cd "$scratch" || exit 1
export PATH=$scratch/bin:$PATH SCRATCH=$scratch
unset CUDA_VISIBLE_DEVICES CUDA_MPS_PIPE_DIRECTORY YOKE_LAB RANK WORLD_SIZE
failed=0
expect() { # WHAT WANTED GOT
    [ "$2" = "$3" ] && return
    failed=1
    printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
    sed 's/^/    /' said 2>/dev/null
}

cat >bin/nvidia-cuda-mps-control <<'FAKE'
#!/bin/bash
case ${1:-} in
-d)
    echo "start ${CUDA_VISIBLE_DEVICES-any} ${CUDA_MPS_ACTIVE_THREAD_PERCENTAGE-undivided}" >>"$SCRATCH/mps"
    setsid "$0" --serve </dev/null >/dev/null 2>&1 &
    echo $! | tee "$SCRATCH/daemon" >"$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid"
    [ -d "$CUDA_MPS_LOG_DIRECTORY" ] && [ "${#CUDA_MPS_PIPE_DIRECTORY}" -lt 60 ]
    exit
    ;;
--serve)
    [ -z "${STUBBORN:-}" ] || trap '' TERM
    exec nvidia-cuda-mps-fake 60
    ;;
esac
read -r words
daemon=$(cat "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid") && kill -0 "$daemon" || exit 1
case $words in
get_server_list) ;;
*)
    echo "$words" >>"$SCRATCH/mps"
    kill "$daemon"
    ;;
esac
FAKE
cat >bin/nvidia-smi <<'FAKE'
#!/bin/sh
case "$*" in
-L) printf 'GPU 0: One (UUID: GPU-a)\nGPU 1: Other (UUID: GPU-b)\n' ;;
*'-i 1') echo GPU-b ;;
*) echo 'No devices were found' && exit 6 ;;
esac
FAKE
cat >bin/mpirun <<'FAKE'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
    case $1 in -n) size=$2 && shift ;; --bind-to | --mca) shift ;; esac
    shift
done
rank=0
while [ "$rank" -lt "$size" ]; do
    OMPI_COMM_WORLD_RANK=$rank "$@" || exit
    rank=$((rank + 1))
done
FAKE
cp "$(command -v sleep)" bin/nvidia-cuda-mps-fake
chmod +x bin/*

# try WORD…: what it prints is in printed, what it says in said; MPS must be off afterwards.
try() {
    : >mps
    PATH=${path:-$PATH} "$lab" "$@" >printed 2>said
    status=$?
    is_off "$*"
}
# One that has ended may wait for its burial, and one that was killed for its turn to end.
is_running() { [ -s mps ] && grep -sq '^State:[[:space:]]*[^Z[:space:]]' "/proc/$(cat daemon)/status"; }
is_off() { # WHAT
    local tries=0
    while is_running && [ $tries -lt 100 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    [ $tries -lt 100 ] || expect "MPS is off after $1" off on
    if [ -s folder ] && [ -e "$(cat folder)" ]; then
        expect "what $1 leaves in /tmp" nothing "$(cat folder)"
    fi
}
# shellcheck disable=SC2016 # for the ranks
show='dirname "$CUDA_MPS_PIPE_DIRECTORY" >folder
echo "${OMPI_COMM_WORLD_RANK-$RANK} $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE ${CUDA_MPS_PINNED_DEVICE_MEM_LIMIT-all} $NCCL_HOSTID $NCCL_SOCKET_IFNAME $CUDA_VISIBLE_DEVICES"'
wanted='0 70 0=48G lab-rank-0 lo 0
1 14.5 0=24576M lab-rank-1 lo 0
2 14 all lab-rank-2 lo 0'

try --shares 70,14.5,14 --memory 48GiB,24576M,all -- sh -c "$show"
expect 'ranks of mpirun' "$wanted" "$(cat printed)"
expect 'MPS, started undivided and stopped' $'start 0 undivided\nquit -t 5' "$(cat mps)"
expect 'what is emulated is said once' 1 "$(grep -c 'emulated.*DRAM bandwidth.*L2.*link' said)"
# shellcheck disable=SC2016
try --shares 60,40 --memory 8G --gpu 1 --launcher env -- sh -c "$show"'
    echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT $YOKE_TOKEN" >"meeting-$RANK"'
expect 'ranks by variables, on the second GPU' $'0 60 0=8G lab-rank-0 lo GPU-b\n1 40 0=8G lab-rank-1 lo GPU-b' "$(sort printed)"
expect 'how they meet' 1 "$(grep -cE '^0 2 0 1 127\.0\.0\.1 2[0-9]{4} [0-9a-f]{32}$' meeting-0)"
expect 'all by the same port and token' "$(cut -d ' ' -f 2- meeting-0)" "$(cut -d ' ' -f 2- meeting-1)"
# shellcheck disable=SC2016
STUBBORN=yes CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=3 try --shares 25 -- sh -c 'echo "$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE ${RANK-alone}"'
expect 'one rank alone' '25 alone' "$(cat printed)"
expect 'MPS, never divided itself, and ended where it does not stop' $'start 0 undivided\nquit -t 5' "$(cat mps)"

# Many launches in one laboratory.
# shellcheck disable=SC2016
try -- sh -c 'for i in 1 2; do "$0" --shares 50,50 -- echo "launch $i" || exit; done; exit 9' "$lab"
expect 'status of what was run' 9 $status
expect 'two launches of two ranks' $'launch 1\nlaunch 1\nlaunch 2\nlaunch 2' "$(cat printed)"
expect 'MPS, started once' $'start 0 undivided\nquit -t 5' "$(cat mps)"
expect 'what is emulated is said once for all launches' 1 "$(grep -c emulated said)"

# Ranks that fail.
# shellcheck disable=SC2016
try --shares 50,50 --launcher env --keep-going -- sh -c 'echo $$ >"pid-$RANK"
    [ "$RANK" = 1 ] || exit 7
    while [ ! -s pid-0 ] || kill -0 "$(cat pid-0)" 2>/dev/null; do sleep 0.02; done
    echo went on; exit 5'
expect 'status of the first that failed' '7 went on' "$status $(cat printed)"
# shellcheck disable=SC2016
try --shares 50,50 --launcher env -- sh -c '[ "$RANK" = 1 ] && kill -KILL $$
    until grep -q "rank 1 ended" said; do sleep 0.02; done
    exit 6'
expect 'status of a rank that was killed' 137 $status
expect 'it is named' 1 "$(grep -c '^lab: rank 1 ended with status 137' said)"

# A laboratory that is ended itself: ranks may save first, and where it cannot ask them, all end.
# shellcheck disable=SC2016
during() { # SIGNAL: sends it to the laboratory as soon as both ranks are at work
    : >mps
    rm -f ready-*
    "$lab" --shares 50,50 --launcher env -- bash -c 'trap "echo saved; exit 75" TERM INT
        dirname "$CUDA_MPS_PIPE_DIRECTORY" >folder; echo $$ >ready-$RANK; while :; do sleep 0.02; done' >printed 2>said &
    while { [ ! -s ready-0 ] || [ ! -s ready-1 ]; } && kill -0 $!; do sleep 0.02; done
    kill -s "$1" $!
    { wait $!; } 2>/dev/null
    status=$?
}
during TERM
is_off TERM
expect 'ranks save at TERM' '75 saved saved' "$status $(xargs <printed)"
during KILL
tries=0
while [ -d "$(cat folder)" ] && [ $tries -lt 100 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
is_off KILL
expect 'no rank outlives its laboratory' $'saved\nsaved' "$(cat printed)"

# Words that make no sense, and machines that cannot.
refuses() { # STATUS SENTENCE WORD…
    local wanted=$1 sentence=$2
    shift 2
    try "$@"
    expect "refusal of $*" "$wanted 1 1" "$status $(wc -l <said) $(grep -c -e "^lab: .*$sentence" said)"
}
refuses 2 'percents between commas' --shares 70,x -- true
refuses 2 '101 is no percentage' --shares 101 -- true
refuses 2 "'24' is no size such as 24G" --shares 50,50 --memory 24 -- true
refuses 2 'has 3 sizes for the 2 ranks' --shares 50,50 --memory 1G,2G,3G -- true
refuses 2 'no COMMAND' --shares 70
refuses 2 'unknown word --share' --share 70 -- true
printf '#!/bin/sh\nexit 9\n' >bin/nvidia-smi
refuses 77 'no NVIDIA GPU here' --shares 50,50 -- true
mkdir few
for tool in bash sh dirname basename awk timeout; do ln -s "$(command -v $tool)" few; done
path=$scratch/few refuses 77 'nvidia-cuda-mps-control is not on the PATH' --shares 50,50 -- true
exit $failed
