/* SPDX-License-Identifier: BSD-2-Clause */
/* The word counter against a plain one, with every scan this machine has, any number of threads and chunks so
 * small that words cross them; and the text against its own count. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "file/text.h"
#include "file/word-count.h"
#include "file/word-scan.h"

#define MIB (1u << 20)

static int cpus[5]; /* CPUs this process may run on, repeated if there are fewer */
static const char *scan_names[8]; /* that work here */
static int n_scans;

#define TEXT_SUM 0x3ac369308aba2c01u /* of the text's first MiB, by FNV-1a */

static const char *const spaces[] = {
	"\t", "\n", "\v", "\f", "\r", " ", "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x80",
	"\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
	"\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
	"\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};
/* Neighbours of those, and their beginnings. */
static const char *const no_spaces[] = {
	"\xc2\x84", "\xc2\x86", "\xc2\x9f", "\xc2\xa1", "\xc3\x85", "\xe1\x9a\x81", "\xe1\x9b\x80",
	"\xe2\x80\x8b", "\xe2\x80\x7f", "\xe2\x80\xa7", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x80\xb0",
	"\xe2\x81\x9e", "\xe2\x81\x80", "\xe2\x82\x80", "\xe3\x80\x81", "\xe3\x81\x80", "\xe4\x80\x80",
	"\xe2", "\xe2\x80", "\xc2", "\x85", "\x80\x80", "\x08", "\x0e", "\x1f", "!", "\xa0", "\x89",
	"\x8d",
};
#define N(array) (sizeof(array) / sizeof(*(array)))

/* Text that is put together piece by piece. */
struct text_buffer {
	char *bytes;
	size_t size, room;
};

static void append(struct text_buffer *text, const void *bytes, size_t n)
{
	if (text->size + n > text->room) {
		text->room = 2 * (text->size + n);
		text->bytes = realloc(text->bytes, text->room);
		assert_non_null(text->bytes);
	}
	if (n)
		memcpy(text->bytes + text->size, bytes, n);
	text->size += n;
}

static void repeat(struct text_buffer *text, char c, size_t n)
{
	while (n--)
		append(text, &c, 1);
}

static uint64_t random_seed;

static unsigned random_below(unsigned n)
{
	random_seed = random_seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((random_seed >> 33) % n);
}

/* The plain counter. */

static size_t space_at(const char *at, size_t left, bool utf8)
{
	for (size_t i = 0; i < (utf8 ? N(spaces) : 6); i++)
		if (strlen(spaces[i]) <= left && !memcmp(at, spaces[i], strlen(spaces[i])))
			return strlen(spaces[i]);
	return 0;
}

static int by_bytes(const void *left, const void *right)
{
	const struct word *a = left, *b = right;
	int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int by_count(const void *left, const void *right)
{
	const struct word *a = left, *b = right;

	return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : by_bytes(a, b);
}

/* Counts text, which it folds in place; the list of words is *all. */
static struct words count_plainly(char *text, size_t size, bool fold, bool utf8, struct word **all)
{
	struct words words = {.bytes = size};
	struct word *list = calloc(size / 2 + 1, sizeof(*list));
	size_t n = 0;

	assert_non_null(list);
	for (size_t i = 0, start = 0; i <= size;) {
		size_t space = i < size ? space_at(text + i, size - i, utf8) : 1;

		if (!space) {
			if (fold && text[i] >= 'A' && text[i] <= 'Z')
				text[i] = (char)(text[i] - 'A' + 'a');
			i++;
			continue;
		}
		if (i > start)
			list[words.total++] = (struct word){text + start, i - start, 1};
		start = i += space;
	}
	qsort(list, words.total, sizeof(*list), by_bytes);
	for (size_t i = 0; i < words.total; i++) {
		if (n && !by_bytes(&list[n - 1], &list[i]))
			list[n - 1].count++;
		else
			list[n++] = list[i];
	}
	words.distinct = n;
	qsort(list, n, sizeof(*list), by_count);
	words.n_top = n < WORDS_TOP ? (int)n : WORDS_TOP;
	for (int i = 0; i < words.n_top; i++)
		words.top[i] = list[i];
	*all = list;
	return words;
}

static void same(const struct words *words, const struct words *expected)
{
	assert_int_equal(words->total, expected->total);
	assert_int_equal(words->distinct, expected->distinct);
	assert_int_equal(words->bytes, expected->bytes);
	assert_int_equal(words->n_top, expected->n_top);
	for (int i = 0; i < words->n_top; i++) {
		assert_int_equal(words->top[i].count, expected->top[i].count);
		assert_int_equal(words->top[i].length, expected->top[i].length);
		assert_memory_equal(words->top[i].text, expected->top[i].text, expected->top[i].length);
	}
}

static int file_of(const void *text, size_t size)
{
	int fd = memfd_create("words", 0);

	assert_true(fd >= 0);
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)text + done, size - done);

		assert_true(n > 0);
		done += (size_t)n;
	}
	return fd;
}

static void count_as(int fd, const struct word_options *options, int n, const struct words *expected)
{
	struct words words;

	assert_int_equal(words__count(&words, fd, options, cpus, n), 0);
	same(&words, expected);
	assert_true(words.elapsed_ns > 0 && words.chunk_reads > 0);
	words__free(&words);
}

/* One of the four ways to read, counted in `runs` random ways, or in all if 0. */
static void check_options(const char *text, size_t size, bool fold, bool utf8, int runs)
{
	static const int threads[] = {1, 2, 5};
	static const size_t chunks[] = {64, 100, 192, 300, 0};
	const int all_ways = n_scans * (int)(N(threads) * N(chunks));
	char *copy = malloc(size + 1);
	struct word *all;
	struct words expected;
	int fd = file_of(text, size);

	assert_non_null(copy);
	memcpy(copy, text, size);
	expected = count_plainly(copy, size, fold, utf8, &all);
	for (int i = 0; i < (runs ? runs : all_ways); i++) {
		unsigned way = runs ? random_below((unsigned)all_ways) : (unsigned)i;
		struct word_options options = {fold, utf8, chunks[way % N(chunks)],
					       scan_names[way / N(chunks) % (unsigned)n_scans]};

		count_as(fd, &options, threads[way / N(chunks) / (unsigned)n_scans], &expected);
	}
	close(fd);
	free(all);
	free(copy);
}

static void check(const char *text, size_t size, int runs)
{
	for (int i = 0; i < 4; i++)
		check_options(text, size, i & 1, i & 2, runs);
}

#define CHECK(text) check(text, sizeof(text) - 1, 0)

static void small_texts(void **state)
{
	(void)state;
	CHECK("");
	CHECK("\n");
	CHECK(" \t\n\v\f\r  \r\n");
	CHECK("a");
	CHECK("no final newline");
	CHECK("carriage\r\nreturns\r\n\r\nand carriage\r\n");
	CHECK("a\0b a\0b a a\0 a\0\0 \0 \0\0 \0 "
	      "aaaaaaaaaaaaaa\0 aaaaaaaaaaaaaa aaaaaaaaaaaaaaa\0 aaaaaaaaaaaaaaa");
	CHECK("\xff\xfe a\xffz \x80 \xc2 \xe2\x80 \xf0\x9f\x98\x80 \xed\xa0\x80 \xc0\xa0 a\xe2\x80");
	CHECK("The the THE tHE [z] {Z} @Q `q \xc3\x89t\xc3\xa9 \xc1\xda");
	/* Twelve words of one count: the first ten in byte order, whichever length. */
	CHECK("b a ab aa \xff aaa B \x01 abc abcdefghijklmnopq abcdefghijklmnop b\xff");
	CHECK("c b a c b c c c d d d d");
	/* Two words of one length and one hash, found by trying 2^32: the texts tell them apart. */
	CHECK("hash0205\xf8\xea\x26\x5f\xd9\x76\xeb\xbcthe-same\n"
	      "hash0205\xa5\x2d\xc3\xd0\xf7\xf1\xd8\x3dthe-same\n"
	      "hash0205\xf8\xea\x26\x5f\xd9\x76\xeb\xbcthe-same");
}

static void words_of_each_length(void **state)
{
	struct text_buffer text = {0};

	(void)state;
	for (size_t length = 1; length <= 40; length++)
		for (size_t times = 0; times <= length; times++) {
			repeat(&text, 'a', length);
			append(&text, " ", 1);
			repeat(&text, 'a', length - 1); /* differs in the last byte only */
			append(&text, times & 1 ? "B\n" : "b\n", 2);
			append(&text, "c", 1); /* and in the first */
			repeat(&text, 'a', length - 1);
			append(&text, "\r\n", 2);
		}
	check(text.bytes, text.size, 0);
	free(text.bytes);
}

/* Each space, and what is none, at each place of a block: a period of 65 bytes passes them all. */
static void spaces_at_each_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(spaces) + N(no_spaces); i++) {
		const char *piece = i < N(spaces) ? spaces[i] : no_spaces[i - N(spaces)];
		struct text_buffer text = {0};

		for (int j = 0; j < 130; j++) {
			repeat(&text, "xX"[j & 1], 65 - strlen(piece));
			append(&text, piece, strlen(piece));
		}
		check(text.bytes, text.size, 4);
		free(text.bytes);
	}
}

/* What tells that a space has begun is read even where a read ended within it. */
static void a_space_across_reads(void **state)
{
	(void)state;
	for (size_t length = 500; length < 600; length++) {
		struct text_buffer text = {0};

		repeat(&text, 'w', length);
		append(&text, "\xe2\x80\x8az", 4);
		repeat(&text, 'w', 4 * length);
		append(&text, "\xe3\x80\x80", 3);
		check(text.bytes, text.size, 3);
		free(text.bytes);
	}
}

static void a_word_of_many_chunks(void **state)
{
	static const size_t sizes[] = {63, 64, 65, 511, 512, 577, 5000, 256 << 10, (256 << 10) + 64, MIB};

	(void)state;
	for (size_t i = 0; i < N(sizes); i++)
		for (int after = 0; after < 3; after++) {
			struct text_buffer text = {0};

			append(&text, "ab ", (size_t)after);
			repeat(&text, 'X', sizes[i]);
			append(&text, " \n\xe2\x80\x80 z", (size_t)after * 3);
			repeat(&text, 'x', after == 2 ? sizes[i] : 0);
			check(text.bytes, text.size, 2);
			free(text.bytes);
		}
}

/* So many that tables grow, of both kinds, known to several threads. */
static void many_different_words(void **state)
{
	struct text_buffer text = {0};

	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		char word[64];
		int n = snprintf(word, sizeof(word), "%u %u %u-is-one-of-the-longer-words ", i % 50000, i % 100,
				 i);

		append(&text, word, (size_t)n);
	}
	check(text.bytes, text.size, 2);
	free(text.bytes);
}

static void random_texts(void **state)
{
	(void)state;
	random_seed = 1;
	for (int i = 0; i < 200; i++) {
		struct text_buffer text = {0};
		size_t size = random_below(3000);
		unsigned kind = random_below(4), dense = 1 + random_below(20);

		while (text.size < size) {
			const char *piece = random_below(2) ? spaces[random_below(N(spaces))]
							    : no_spaces[random_below(N(no_spaces))];
			char byte = (char)random_below(256);

			if (kind == 1)
				byte = "aAbBzZ\0["[random_below(8)];
			if (kind < 2 && !random_below(dense))
				append(&text, piece, strlen(piece));
			else if (kind == 2) /* pieces alone */
				append(&text, piece, strlen(piece));
			else
				append(&text, &byte, 1);
		}
		check(text.bytes, text.size, 3);
		free(text.bytes);
	}
}

struct writing {
	int fd;
	const char *text;
	size_t size;
	unsigned most; /* bytes at once */
};

static void *write_slowly(void *argument)
{
	struct writing *writing = argument;
	uint64_t seed = 7;

	for (size_t done = 0; done < writing->size;) {
		size_t n;
		ssize_t written;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = 1 + (size_t)(seed >> 33) % writing->most;
		if (n > writing->size - done)
			n = writing->size - done;
		written = write(writing->fd, writing->text + done, n);
		if (written < 0)
			break;
		done += (size_t)written;
	}
	close(writing->fd);
	return NULL;
}

static void check_pipe(const struct text_buffer *text, unsigned most, size_t chunk)
{
	const struct word_options options = {.utf8 = true, .chunk = chunk};
	struct writing writing = {.text = text->bytes, .size = text->size, .most = most};
	struct word *all;
	struct words expected = count_plainly(text->bytes, text->size, false, true, &all);
	pthread_t thread;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	writing.fd = ends[1];
	assert_int_equal(pthread_create(&thread, NULL, write_slowly, &writing), 0);
	count_as(ends[0], &options, 2, &expected);
	close(ends[0]);
	pthread_join(thread, NULL);
	free(all);
}

static void a_pipe_is_read_as_it_comes(void **state)
{
	struct text_buffer text = {0};

	(void)state;
	check_pipe(&text, 1, 64);
	for (int i = 0; i < 20000; i++) {
		const char *space = spaces[random_below(N(spaces))];

		repeat(&text, (char)('a' + random_below(3)), random_below(30));
		append(&text, space, strlen(space));
	}
	check_pipe(&text, 100, 64);
	check_pipe(&text, 70000, 192);
	check_pipe(&text, 5000, 0);
	repeat(&text, 'w', MIB);
	append(&text, " end", 4);
	check_pipe(&text, 3000, 64); /* a word of 16384 chunks */
	check_pipe(&text, MIB, 0);
	free(text.bytes);
}

static void what_cannot_be_counted(void **state)
{
	struct word_options options = {0};
	struct words words;
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(words__count(&words, fd, &options, cpus, 2), -EISDIR);
	words__free(&words);
	close(fd);
	assert_int_equal(words__count(&words, -1, &options, cpus, 2), -EBADF);
	options.scan = "nosuch";
	assert_int_equal(words__count(&words, 0, &options, cpus, 2), -ENOTSUP);
	assert_int_equal(words.n_top, 0);
}

static void *truncate_often(void *argument)
{
	int fd = *(int *)argument;

	for (int i = 0; i < 300; i++)
		if (ftruncate(fd, i % 2 ? 2 * MIB : (i * 7919) % MIB))
			break;
	return NULL;
}

static void a_file_that_shrinks(void **state)
{
	const struct word_options options = {.chunk = 4096};
	struct text_buffer text = {0};
	struct words words;
	pthread_t thread;
	int fd;

	(void)state;
	repeat(&text, 'a', 2 * MIB);
	for (size_t i = 0; i < text.size; i += 1 + i % 9000)
		text.bytes[i] = ' ';
	fd = file_of(text.bytes, text.size);
	assert_int_equal(pthread_create(&thread, NULL, truncate_often, &fd), 0);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(words__count(&words, fd, &options, cpus, 2), 0);
		assert_true(words.bytes <= 2 * MIB);
		words__free(&words);
	}
	pthread_join(thread, NULL);
	close(fd);
	free(text.bytes);
}

static void no_memory(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)state;
	skip(); /* a sanitizer needs more address space than any limit */
#else
	struct text_buffer text = {0};
	const struct word_options options = {0};
	struct words words;
	int fd, status;
	pid_t child;

	(void)state;
	for (unsigned i = 0; text.size < 40 * MIB; i++) {
		char word[64];

		append(&text, word, (size_t)snprintf(word, sizeof(word), "%u a-long-word-number-%u\n", i, i));
	}
	fd = file_of(text.bytes, text.size);
	free(text.bytes);
	child = fork();
	if (!child) {
		const struct rlimit limit = {128 * MIB, 128 * MIB};

		setrlimit(RLIMIT_AS, &limit);
		_exit(words__count(&words, fd, &options, cpus, 2) == -ENOMEM ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(words__count(&words, fd, &options, cpus, 2), 0);
	words__free(&words);
	close(fd);
#endif
}

static void the_text_is_as_it_says(void **state)
{
	static const uint64_t sizes[] = {0, 1, 2, 3, 10, 100, 8 * MIB + 12345};

	(void)state;
	/* A row of sizes: in some the last word leaves no room. */
	for (size_t i = 0; i < N(sizes) + 30; i++) {
		const struct word_options options = {0};
		uint64_t size = i < N(sizes) ? sizes[i] : 100 + i;
		struct words truth;
		int fd = memfd_create("text", 0);
		char last = '\n';

		assert_int_equal(text__write(fd, size, &truth, NULL, NULL), 0);
		assert_int_equal(lseek(fd, 0, SEEK_END), size);
		assert_int_equal(truth.bytes, size);
		count_as(fd, &options, 2, &truth);
		if (size)
			assert_int_equal(pread(fd, &last, 1, (off_t)size - 1), 1);
		assert_int_equal(last, '\n');
		words__free(&truth);
		close(fd);
	}
}

static void the_text_is_always_the_same(void **state)
{
	int fd = memfd_create("text", 0);
	unsigned char *text = malloc(MIB);
	uint64_t sum = 0xcbf29ce484222325u, newlines = 0;
	size_t column = 0;

	(void)state;
	assert_non_null(text);
	assert_int_equal(text__write(fd, 2 * MIB, NULL, NULL, NULL), 0);
	assert_int_equal(pread(fd, text, MIB, 0), MIB);
	for (size_t i = 0; i < MIB; i++, column++) {
		sum = (sum ^ text[i]) * 0x100000001b3u; /* FNV-1a */
		if (text[i] != '\n')
			continue;
		assert_in_range(column, 60, 80);
		column = (size_t)-1;
		newlines++;
	}
	assert_int_equal(sum, TEXT_SUM);
	assert_in_range(newlines, MIB / 80, MIB / 60);
	free(text);
	close(fd);
}

static int stop_at(uint64_t done, void *argument)
{
	return done >= *(uint64_t *)argument;
}

static void a_text_that_is_not_finished(void **state)
{
	uint64_t limit = 3 * MIB;
	struct words truth;
	int fd = memfd_create("text", 0);
	off_t size;

	(void)state;
	assert_int_equal(text__write(fd, 10 * MIB, &truth, stop_at, &limit), -EINTR);
	assert_int_equal(truth.n_top, 0);
	size = lseek(fd, 0, SEEK_END);
	assert_in_range(size, 3 * MIB, 6 * MIB);
	close(fd);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(text__write(fd, 10 * MIB, NULL, NULL, NULL), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_texts),
		cmocka_unit_test(words_of_each_length),
		cmocka_unit_test(spaces_at_each_place),
		cmocka_unit_test(a_space_across_reads),
		cmocka_unit_test(a_word_of_many_chunks),
		cmocka_unit_test(many_different_words),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(a_pipe_is_read_as_it_comes),
		cmocka_unit_test(what_cannot_be_counted),
		cmocka_unit_test(a_file_that_shrinks),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(the_text_is_as_it_says),
		cmocka_unit_test(the_text_is_always_the_same),
		cmocka_unit_test(a_text_that_is_not_finished),
	};
	cpu_set_t allowed;
	size_t n = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return 1;
	for (int cpu = 0; n < N(cpus); cpu = (cpu + 1) % CPU_SETSIZE)
		if (CPU_ISSET(cpu, &allowed))
			cpus[n++] = cpu;
	for (const struct scan *const *scan = scans; *scan; scan++)
		if ((*scan)->works())
			scan_names[n_scans++] = (*scan)->name;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
