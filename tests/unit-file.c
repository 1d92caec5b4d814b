/* SPDX-License-Identifier: BSD-2-Clause */
/* The layers of file-rate, and what it computes: every layer against a file whose bytes are known. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "file/checksum.h"
#include "file/layer.h"
#include "file/line-scan.h"
#include "file/peer.h"
#include "file/pool.h"

#define SIZE 300007 /* no multiple of anything */

static uint8_t content[SIZE], seen_bytes[SIZE + 4096];
static uint64_t seen_n;
static char path[64];

static void see(void *argument, const void *data, size_t n, uint64_t offset)
{
	(void)argument;
	if (offset + n > sizeof(seen_bytes))
		fail_msg("bytes beyond the end were seen");
	memcpy(seen_bytes + offset, data, n);
	seen_n += n;
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static int make_file(void **state)
{
	int fd;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)next_random();
	snprintf(path, sizeof(path), "/tmp/unit-file.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, content, SIZE) != SIZE)
		return -1;
	close(fd);
	return 0;
}

static int drop_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* Reads it all in sequence. Returns 0 or -errno. */
static int read_all(const struct layer *layer, struct layer_job job, const char *from)
{
	struct layer_file *file;
	char why[256];
	int err;

	memset(seen_bytes, 0, sizeof(seen_bytes));
	seen_n = 0;
	job.path = from;
	job.seen = see;
	job.depth = job.depth ? job.depth : 4;
	job.pool = 2;
	err = layer__open(&file, layer, &job, why, sizeof(why));
	if (err)
		return err;
	while (!file->end && !err)
		err = layer->move(file, false, LAYER_NEXT);
	if (!err && layer->finish)
		err = layer->finish(file);
	layer->close(file);
	return err;
}

static bool is_refused(const struct layer *layer, int err)
{
	return layer == &layer_io_uring && (err == -EPERM || err == -ENOSYS);
}

static void every_layer_reads_every_byte_once(void **state)
{
	static const size_t blocks[] = {1, 511, 512, 4096, 65536, SIZE - 1, SIZE, SIZE + 1, 1 << 20};

	(void)state;
	for (int i = 0; layers[i]; i++)
		for (size_t j = layers[i] == &layer_null; j < sizeof(blocks) / sizeof(*blocks); j++) {
			bool slow = layers[i] == &layer_server || layers[i] == &layer_pool || layers[i] == &layer_pool_ahead;
			struct layer_job job = {.block = layers[i]->can & LAYER_WHOLE ? SIZE : blocks[j]};
			int err;

			if (layers[i] == &layer_null || (slow && blocks[j] == 1))
				continue;
			err = read_all(layers[i], job, path);
			if (is_refused(layers[i], err))
				continue;
			assert_int_equal(err, 0);
			assert_int_equal(seen_n, SIZE);
			assert_memory_equal(seen_bytes, content, SIZE);
		}
}

static void queue_depths(void **state)
{
	(void)state;
	for (int depth = 1; depth <= 64; depth++) {
		int err = read_all(&layer_io_uring, (struct layer_job){.block = 4096, .depth = depth}, path);

		if (is_refused(&layer_io_uring, err))
			skip();
		assert_int_equal(err, 0);
		assert_int_equal(seen_n, SIZE);
		assert_memory_equal(seen_bytes, content, SIZE);
	}
}

static void tick(int number)
{
	(void)number;
}

/* A signal a millisecond, whose handler makes calls end early. */
static void start_ticking(unsigned int us)
{
	struct sigaction action = {.sa_handler = tick};
	struct itimerval interval = {{0, us}, {0, us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

/* Another process, lest a server that is forked here has the FIFO open for writing as well. */
static pid_t write_slowly(const char *fifo)
{
	pid_t child = fork();
	size_t done = 0;
	int fd;

	if (child)
		return child;
	fd = open(fifo, O_WRONLY);
	while (done < SIZE) {
		size_t n = 1 + next_random() % 7000;
		ssize_t put = write(fd, content + done, n < SIZE - done ? n : SIZE - done);

		if (put > 0)
			done += (size_t)put;
		if (next_random() % 8 == 0)
			usleep(2000);
	}
	_exit(0);
}

static void short_reads_and_interruptions_lose_nothing(void **state)
{
	char fifo[80];

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	start_ticking(1000);
	for (int i = 0; layers[i]; i++) {
		struct layer_job job = {.block = layers[i]->can & LAYER_WHOLE ? 0 : 5000};
		pid_t writer;
		int err;

		if (!(layers[i]->can & LAYER_STREAMS))
			continue;
		writer = write_slowly(fifo);
		err = read_all(layers[i], job, fifo);
		kill(writer, SIGKILL);
		while (waitpid(writer, NULL, 0) < 0 && errno == EINTR)
			;
		assert_int_equal(err, 0);
		assert_int_equal(seen_n, SIZE);
		assert_memory_equal(seen_bytes, content, SIZE);
	}
	/* And what waits in other ways: for a ring, for a process. */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(read_all(&layer_server, (struct layer_job){.block = 4096}, path), 0);
		assert_memory_equal(seen_bytes, content, SIZE);
		if (!read_all(&layer_io_uring, (struct layer_job){.block = 4096, .depth = 4}, path))
			assert_memory_equal(seen_bytes, content, SIZE);
	}
	start_ticking(0);
	unlink(fifo);
}

static void make_block(void *argument, void *data, size_t n, uint64_t offset)
{
	(void)argument;
	memcpy(data, content + offset, n);
}

static void every_layer_that_writes_writes_there(void **state)
{
	char copy[80];
	static uint8_t image[SIZE], found[SIZE + 1];

	(void)state;
	snprintf(copy, sizeof(copy), "%s.copy", path);
	for (int i = 0; layers[i]; i++)
		for (int random = 0; random < 2; random++) {
			struct layer_job job = {.path = copy, .block = 4096, .write = true, .depth = 4, .pool = 2,
						.fill = make_block};
			struct layer_file *file;
			char why[256];
			int fd, err;
			ssize_t n;

			if (!(layers[i]->can & LAYER_WRITES))
				continue;
			fd = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0600);
			assert_true(fd >= 0);
			err = layer__open(&file, layers[i], &job, why, sizeof(why));
			if (is_refused(layers[i], err)) {
				close(fd);
				continue;
			}
			assert_int_equal(err, 0);
			memset(image, 0, sizeof(image));
			for (uint64_t k = 0; k < 60; k++) {
				uint64_t at = random ? next_random() % (SIZE - 4096) : k * 4096;

				memcpy(image + at, content + at, 4096);
				assert_int_equal(layers[i]->move(file, true, random ? at : LAYER_NEXT), 0);
			}
			assert_int_equal(layers[i]->finish ? layers[i]->finish(file) : 0, 0);
			assert_int_equal(file->bytes, 60 * 4096);
			layers[i]->close(file);
			n = pread(fd, found, sizeof(found), 0);
			assert_true(n > 0);
			assert_memory_equal(found, image, (size_t)n);
			assert_true(random || n == 60 * 4096);
			close(fd);
		}
	unlink(copy);
}

static void a_full_disk_is_an_error_of_every_layer(void **state)
{
	(void)state;
	for (int i = 0; layers[i]; i++) {
		struct layer_job job = {.path = "/dev/full", .block = 8192, .write = true, .depth = 4, .pool = 1};
		struct layer_file *file;
		char why[256];
		int err;

		if (!(layers[i]->can & LAYER_WRITES))
			continue;
		err = layer__open(&file, layers[i], &job, why, sizeof(why));
		if (is_refused(layers[i], err))
			continue;
		assert_int_equal(err, 0);
		for (int k = 0; k < 8 && !err; k++)
			err = layers[i]->move(file, true, LAYER_NEXT);
		if (!err && layers[i]->finish)
			err = layers[i]->finish(file);
		assert_int_equal(err, -ENOSPC);
		layers[i]->close(file);
	}
}

static void a_device_error_is_an_error_of_every_layer(void **state)
{
	(void)state;
	for (int i = 0; layers[i]; i++)
		if (layers[i]->can & LAYER_STREAMS) /* nothing is mapped at address 0 */
			assert_int_equal(read_all(layers[i], (struct layer_job){.block = 4096}, "/proc/self/mem"), -EIO);
}

static void a_file_that_shrinks_is_no_death(void **state)
{
	struct layer_job job = {.path = path, .block = 4096, .seen = see};
	struct layer_file *file;
	char why[256];

	(void)state;
	assert_int_equal(layer__open(&file, &layer_mmap, &job, why, sizeof(why)), 0);
	assert_int_equal(layer_mmap.move(file, false, LAYER_NEXT), 0);
	assert_int_equal(truncate(path, 8192), 0);
	for (int i = 0; i < 200 && !file->end; i++)
		assert_int_equal(layer_mmap.move(file, false, LAYER_NEXT), 0);
	assert_true(file->end);
	assert_int_equal(file->bytes, 8192);
	layer_mmap.close(file);
	drop_file(state);
	assert_int_equal(make_file(state), 0);
}

static void what_is_not_there_is_said(void **state)
{
	struct layer_job job = {.path = "/nonexistent/file", .block = 4096, .depth = 1, .pool = 1};
	const char *const argv[] = {"no-such-program", NULL};
	struct layer_file *file;
	char why[256], *said;
	size_t n;

	(void)state;
	for (int i = 0; layers[i]; i++) {
		if (layers[i] == &layer_null)
			continue;
		assert_int_equal(layer__open(&file, layers[i], &job, why, sizeof(why)), -ENOENT);
		assert_string_equal(why, "No such file or directory");
		assert_null(file);
	}
	assert_int_equal(peer__run(argv, &said, &n, NULL, why, sizeof(why)), -ENOTSUP);
	assert_string_equal(why, "not installed");
}

static void checksums_add_up_however_it_is_cut(void **state)
{
	uint64_t whole = checksum__part(content, SIZE, 0);

	(void)state;
	for (int round = 0; round < 50; round++) {
		uint64_t sum = 0;

		for (size_t at = 0; at < SIZE;) {
			size_t n = 1 + next_random() % (round % 2 ? 100 : 5000);

			n = n < SIZE - at ? n : SIZE - at;
			sum += checksum__part(content + at, n, at);
			at += n;
		}
		assert_true(sum == whole);
	}
	/* One bit, two sectors in each other's place, a byte at another place. */
	content[777] ^= 4;
	assert_true(checksum__part(content, SIZE, 0) != whole);
	content[777] ^= 4;
	assert_true(checksum__part(content, 512, 512) + checksum__part(content + 512, 512, 0) !=
		    checksum__part(content, 1024, 0));
	assert_true(checksum__part("a", 1, 8) != checksum__part("a", 1, 9));
}

/* Lines as a look at each byte has them: their number, and a sum that knows their order and ends. */
struct lines {
	uint64_t n, sum;
};

static void add_line(void *argument, const char *line, size_t length)
{
	struct lines *lines = argument;

	lines->n++;
	lines->sum = lines->sum * 31 + length;
	for (size_t i = 0; i < length; i++)
		lines->sum = lines->sum * 31 + (uint8_t)line[i] + 1;
}

static void check_lines(const char *text, size_t size)
{
	struct lines expected = {0, 0};
	size_t start = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n') {
			add_line(&expected, text + start, i - start);
			start = i + 1;
		}
	if (start < size)
		add_line(&expected, text + start, size - start);
	for (size_t block = 1; block <= size + 1; block += 1 + block / 3) {
		struct lines found = {0, 0};
		struct line_scan scan = {.work = add_line, .argument = &found}, count = {.work = NULL};

		for (size_t at = 0; at < size; at += block) {
			/* At its own place, so that a read past its end is seen by the sanitizer. */
			size_t n = block < size - at ? block : size - at;
			char *copy = malloc(n);

			memcpy(copy, text + at, n);
			assert_int_equal(line_scan__block(&scan, copy, n), 0);
			assert_int_equal(line_scan__block(&count, copy, n), 0);
			free(copy);
		}
		line_scan__end(&scan);
		line_scan__end(&count);
		assert_int_equal(found.n, expected.n);
		assert_true(found.sum == expected.sum);
		assert_int_equal(scan.lines, expected.n);
		assert_int_equal(count.lines, expected.n);
	}
}

static void lines_do_not_depend_on_the_block(void **state)
{
	static const char *const texts[] = {"", "\n", "a", "a\n", "\n\n\n\n", "a\r\nb\r\n", "a\n\nb", "\na", "a\xff\n\xc3(\n"};
	static char text[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_lines(texts[i], strlen(texts[i]));
	check_lines("a\0b\n\0", 5);
	for (int round = 0; round < 200; round++) {
		size_t size = next_random() % sizeof(text);
		uint64_t rare = 1 + next_random() % 300;

		for (size_t i = 0; i < size; i++)
			text[i] = next_random() % rare ? (char)next_random() : '\n';
		check_lines(text, size);
	}
	memset(text, '\n', sizeof(text));
	check_lines(text, sizeof(text));
}

struct sum {
	pthread_mutex_t lock;
	int n;
};

static void count_one(void *argument)
{
	struct sum *sum = argument;

	pthread_mutex_lock(&sum->lock);
	sum->n++;
	pthread_mutex_unlock(&sum->lock);
}

static struct pool *shared;

static void *call_often(void *argument)
{
	for (int i = 0; i < 2000; i++)
		pool__call(shared, count_one, argument);
	return NULL;
}

static void a_pool_does_every_call_before_it_returns(void **state)
{
	struct sum sum = {PTHREAD_MUTEX_INITIALIZER, 0};
	pthread_t threads[4];

	(void)state;
	for (int n = 1; n <= 5; n += 2) {
		sum.n = 0;
		assert_int_equal(pool__new(&shared, n), 0);
		for (int i = 0; i < 100; i++) {
			pool__call(shared, count_one, &sum);
			assert_int_equal(sum.n, i + 1);
		}
		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, call_often, &sum), 0);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(sum.n, 8100);
		pool__free(shared);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layer_reads_every_byte_once),
		cmocka_unit_test(queue_depths),
		cmocka_unit_test(short_reads_and_interruptions_lose_nothing),
		cmocka_unit_test(every_layer_that_writes_writes_there),
		cmocka_unit_test(a_full_disk_is_an_error_of_every_layer),
		cmocka_unit_test(a_device_error_is_an_error_of_every_layer),
		cmocka_unit_test(a_file_that_shrinks_is_no_death),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(checksums_add_up_however_it_is_cut),
		cmocka_unit_test(lines_do_not_depend_on_the_block),
		cmocka_unit_test(a_pool_does_every_call_before_it_returns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_file, drop_file);
}
