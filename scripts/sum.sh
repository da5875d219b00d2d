# sum.sh - run parts that each end with `N passed, N failed`, and add them up.
#
# To be sourced. part NAME COMMAND... runs one; part_folded does too, but shows what it
# wrote only if it failed, and names those of its own parts that took 20 s or more;
# print_sum prints the total and fails if anything did.
#
# A part without such a line counts as one. A part that says nothing failed but ends with
# an error has failed once more: a sum is never better than its parts.

sum_passed=0
sum_failed=0
sum_skipped=0
sum_log=$(mktemp)
trap 'rm -f "$sum_log"' EXIT

add_up() {
    local name=$1 status=$2 line passed failed skipped

    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$sum_log" | tail -n 1 || true)
    if [ -z "$line" ]; then
        line=$([ "$status" = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed")
    fi
    passed=${line%% *}
    failed=${line#*, }
    failed=${failed%% *}
    skipped=0
    if [[ $line =~ ,\ ([0-9]+)\ skipped ]]; then
        skipped=${BASH_REMATCH[1]}
    fi
    if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        echo "$name: ended with status $status"
        failed=1
    fi
    sum_passed=$((sum_passed + passed))
    sum_failed=$((sum_failed + failed))
    sum_skipped=$((sum_skipped + skipped))
    part_line="$passed passed, $failed failed"
    part_failed=$failed
}

part() {
    local name=$1 status=0 began=$SECONDS

    shift
    echo "== $name"
    "$@" 2>&1 | tee "$sum_log" || status=${PIPESTATUS[0]}
    add_up "$name" "$status"
    echo "-- $name took $((SECONDS - began)) s"
}

part_folded() {
    local name=$1 status=0 began=$SECONDS

    shift
    "$@" >"$sum_log" 2>&1 || status=$?
    add_up "$name" "$status"
    if [ "$part_failed" != 0 ]; then
        echo "---- $name"
        cat "$sum_log"
        echo "---- end of $name"
    fi
    echo "$name: $part_line ($((SECONDS - began)) s$(long_parts))"
}

# ": unit 203 s, crawler 41 s", of what was written last.
long_parts() {
    sed -nE 's/^-- (.*) took ([0-9]{3,}|[2-9][0-9]) s$/\1 \2 s/p' "$sum_log" |
        paste -sd , | sed 's/,/, /g; s/^/: /'
}

print_sum() {
    if [ "$sum_skipped" != 0 ]; then
        echo "$sum_passed passed, $sum_failed failed, $sum_skipped skipped"
    else
        echo "$sum_passed passed, $sum_failed failed"
    fi
    [ "$sum_failed" = 0 ]
}
