# The exact depth-N pool of run files, as `topic docno` lines, some more than once.
# Of each run and topic it keeps what no N others precede: below `cut`, the N-th best score known so
# far, a line is dropped. Ties at the end are decided by docno, descending.

# Return the N-th greatest of s[1..n].
function nth_best(    i, j, low, high, pivot, swap) {
    for (i = 1; i <= n; i++) q[i] = s[i]
    low = 1; high = n
    while (low < high) {
        pivot = q[int((low + high) / 2)]; i = low; j = high
        while (i <= j) {
            while (q[i] > pivot) i++
            while (q[j] < pivot) j--
            if (i <= j) { swap = q[i]; q[i] = q[j]; q[j] = swap; i++; j-- }
        }
        if (N <= j) high = j
        else if (N >= i) low = i
        else break
    }
    return q[N]
}

function prune(    i, kept) {
    cut = nth_best(); has_cut = 1; kept = 0
    for (i = 1; i <= n; i++) if (s[i] >= cut) { kept++; s[kept] = s[i]; d[kept] = d[i] }
    n = kept; most = 4 * N > 2 * n ? 4 * N : 2 * n
}

function finish(    i, best, left) {
    if (n <= N) { for (i = 1; i <= n; i++) print topic, d[i]; return }
    prune(); left = N
    for (i = 1; i <= n; i++) if (s[i] > cut) { print topic, d[i]; left-- }
    for (; left > 0; left--) {
        best = 0
        for (i = 1; i <= n; i++) if (s[i] == cut && d[i] != "" && (!best || d[i] "" > d[best] "")) best = i
        print topic, d[best]; d[best] = ""
    }
}

FNR == 1 || $1 "" != topic {
    if (NR > 1) finish()
    topic = $1 ""; n = 0; has_cut = 0; most = 4 * N
}
{
    score = $5 + 0
    if (has_cut && score < cut) next
    n++; s[n] = score; d[n] = $3
    if (!has_cut) {
        if (n == 1 || score < least) least = score
        if (n == N) { cut = least; has_cut = 1 }
    } else if (n > most) prune()
}
END { if (NR) finish() }
