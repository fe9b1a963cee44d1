/* An exact depth-N pool of run files whose topics stand together: the floor that other programs are measured by.
   One thread, no check of any field. Prints "topic docno" lines of every run; `sort -u` makes a pool of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line { double score; const char *docno; };

static int by_rank(const void *a, const void *b) {
    const struct line *one = a, *other = b;
    if (one->score != other->score) return one->score < other->score ? 1 : -1;
    return strcmp(other->docno, one->docno);
}

static char *field(char **at) {
    char *start;
    while (**at == ' ' || **at == '\t') ++*at;
    start = *at;
    while (**at > ' ') ++*at;
    if (**at) *(*at)++ = 0;
    return start;
}

static void top(const char *topic, struct line *lines, size_t n, size_t depth) {
    qsort(lines, n, sizeof *lines, by_rank);
    for (size_t rank = 0; rank < n && rank < depth; rank++) printf("%s %s\n", topic, lines[rank].docno);
}

int main(int argc, char **argv) {
    size_t depth = (size_t)atol(argv[1]), room = 1 << 12;
    struct line *lines = malloc(room * sizeof *lines);
    for (int number = 2; number < argc; number++) {
        FILE *file = fopen(argv[number], "rb");
        if (!file) return 1;
        fseek(file, 0, SEEK_END);
        size_t size = (size_t)ftell(file), n = 0;
        rewind(file);
        char *text = malloc(size + 2), *at = text;
        if (fread(text, 1, size, file) != size) return 1;
        text[size] = '\n';
        text[size + 1] = 0;
        fclose(file);
        const char *topic = "";
        while (*at) {
            while (*at && *at <= ' ') at++;
            if (!*at) break;
            char *first = field(&at);
            field(&at);
            char *docno = field(&at);
            field(&at);
            char *score = field(&at);
            field(&at);
            if (strcmp(first, topic)) {
                top(topic, lines, n, depth);
                topic = first;
                n = 0;
            }
            if (n == room) lines = realloc(lines, (room *= 2) * sizeof *lines);
            lines[n++] = (struct line){strtod(score, 0), docno};
        }
        top(topic, lines, n, depth);
        free(text);
    }
    return 0;
}
