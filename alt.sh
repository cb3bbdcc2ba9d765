r=$1; shift; TIMEFORMAT='%U %S'; cd /tmp/prof; rm -f alt.[0-9]*
for k in $(seq $r); do i=0; for c in "$@"; do rm -f r.duckdb*; { time $c >alt.out 2>&1; } 2>&1 | awk '{print $1+$2}' >> alt.$i; i=$((i+1)); done; done
i=0; for c in "$@"; do sort -n alt.$i | awk -v c="$c" '{a[NR]=$1} END{printf "min %.2f med %.2f  %s\n", a[1], a[int((NR+1)/2)], substr(c,1,150)}'; i=$((i+1)); done
