/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/requests.c - checks whether the requests of streams can be done. All streams advance, one
 * after another, as far as the others allow; a stream that cannot end then waits in a cycle.
 *
 *      stream 0    get 1  put 2  get 3         0 does its first and waits for page 2
 *      stream 1    put 3  get 2                1 waits for page 3 at once
 *                                              2 goes out after put 3, 3 after put 2:
 *                                              rejected, row 1
 *
 * A page has at most one waiter, because it comes in only once.
 */
#include "machine/build.h"

enum { GOES_OUT = 1, COMES_IN = 2, IS_OUT = 4 };

struct stream {
	uint32_t row;
	uint32_t end;
};

struct trial {
	const struct sws_machine_config *config;
	struct stream *streams;
	/* A stack of streams that can advance. */
	uint32_t *ready;
	uint32_t n_ready;
	/* The flags of each page. */
	uint8_t *flags;
	/* For each page the stream that waits for it. */
	uint32_t *waiters;
};

static int refuse(uint32_t at, const char *sentence, uint32_t *row, const char **reason)
{
	*row = at;
	*reason = sentence;
	return SWS_ERROR_BAD_CONFIG;
}

/* Returns the fault of a row by itself: its stream or its page; NULL if it has no fault. */
static const char *fault_of(const struct trial *trial, uint32_t row)
{
	const struct sws_machine_config *config = trial->config;
	const struct sws_machine_request *request = &config->requests[row];
	const struct sws_machine_request *before = row ? request - 1 : NULL;
	const bool begins = !before || request->stream != before->stream;

	if (begins && request->stream != (before ? before->stream + 1 : 0))
		return "streams are out of order, or one has no request";
	if (request->stream >= config->streams)
		return "there is no such stream";
	if (!begins && before->mm != request->mm)
		return "its stream has two address spaces";
	if (request->mm < -1 || (request->mm >= 0 && (uint32_t)request->mm >= config->streams))
		return "there is no such address space";
	if (request->page >= config->n_requests)
		return "there is no such page";
	if (trial->flags[request->page] & (request->put ? COMES_IN : GOES_OUT))
		return request->put ? "its page comes in twice" : "its page goes out twice";
	return NULL;
}

static int check_rows(struct trial *trial, uint32_t *row, const char **reason)
{
	const struct sws_machine_request *requests = trial->config->requests;
	const uint32_t n = trial->config->n_requests;

	for (uint32_t i = 0; i < n; i++) {
		const char *fault = fault_of(trial, i);

		if (fault)
			return refuse(i, fault, row, reason);
		trial->flags[requests[i].page] |= requests[i].put ? COMES_IN : GOES_OUT;
		trial->streams[requests[i].stream].end = i + 1;
	}
	if (requests[n - 1].stream + 1 != trial->config->streams)
		return refuse(n - 1, "the streams behind it have no request", row, reason);
	for (uint32_t i = 0; i < n; i++)
		if (!(trial->flags[requests[i].page] & GOES_OUT))
			return refuse(i, "its page never goes out", row, reason);
	return SWS_OK;
}

/*
 * Advances a stream as far as possible; it is ready again when the page that it waits for is out.
 * Each row is passed once, so the total is O(requests). The stack has room for each stream once: a
 * waiting stream is not on it, and the only get of its page puts it back.
 *
 *      stream 0    get 1  put 2         ready 0 1    0: page 1 is out, waits for page 2
 *      stream 1    put 1  get 2         ready 1      1: page 2 is out, 0 is ready again
 *                                       ready 0      0: its end
 */
static void go_on(struct trial *trial, uint32_t number)
{
	struct stream *stream = &trial->streams[number];

	for (; stream->row < stream->end; stream->row++) {
		const struct sws_machine_request *request = &trial->config->requests[stream->row];
		uint8_t *flags = &trial->flags[request->page];

		if (request->put && !(*flags & IS_OUT)) {
			trial->waiters[request->page] = number + 1;
			return;
		}
		if (request->put)
			continue;
		*flags |= IS_OUT;
		if (trial->waiters[request->page])
			trial->ready[trial->n_ready++] = trial->waiters[request->page] - 1;
	}
}

static int try_order(struct trial *trial, uint32_t *row, const char **reason)
{
	const uint32_t n = trial->config->streams;

	for (uint32_t i = 0; i < n; i++) {
		trial->streams[i].row = i ? trial->streams[i - 1].end : 0;
		trial->ready[n - 1 - i] = i;
	}
	trial->n_ready = n;
	while (trial->n_ready)
		go_on(trial, trial->ready[--trial->n_ready]);
	for (uint32_t i = 0; i < n; i++)
		if (trial->streams[i].row < trial->streams[i].end)
			return refuse(trial->streams[i].row,
				      "its page goes out only after it, the streams in between "
				      "waiting for one another",
				      row, reason);
	return SWS_OK;
}

int sws_machine_check_requests(const struct sws_machine_config *config, uint32_t *row,
			       const char **reason)
{
	const struct sws_allocator *allocator =
		config->allocator ? config->allocator : &sws_libc_allocator;
	struct trial trial = { .config = config };
	const uint32_t n = config->n_requests;
	int error = SWS_ERROR_NO_MEMORY;

	if (!n || !config->streams)
		return SWS_OK;
	trial.streams = sws_allocate_zeroed(allocator, config->streams, sizeof(*trial.streams));
	trial.ready = sws_allocate_zeroed(allocator, config->streams, sizeof(*trial.ready));
	trial.flags = sws_allocate_zeroed(allocator, n, sizeof(*trial.flags));
	trial.waiters = sws_allocate_zeroed(allocator, n, sizeof(*trial.waiters));
	if (!trial.streams || !trial.ready || !trial.flags || !trial.waiters)
		goto out;
	error = check_rows(&trial, row, reason);
	if (!error)
		error = try_order(&trial, row, reason);
out:
	sws_release(allocator, trial.waiters);
	sws_release(allocator, trial.flags);
	sws_release(allocator, trial.ready);
	sws_release(allocator, trial.streams);
	return error;
}

/*
 * Returns the maximum number of pages that a stream alone holds: each page that came in stays until
 * one goes out. get put put get put hold 0 1 2 1 2, so 2. It does not matter which page a get
 * takes, nor whose it was: a get without such a page takes a new one, which is gone afterwards.
 */
static uint64_t most_pages(const struct sws_machine_request *requests, uint32_t n)
{
	uint64_t pages = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (requests[i].put)
			pages++;
		else if (pages)
			pages--;
		most = pages > most ? pages : most;
	}
	return most;
}

void sws_machine__stream_pages(const struct sws_machine_config *config, uint64_t *pages)
{
	const struct sws_machine_request *requests = config->requests;

	for (uint32_t row = 0, end = 0; row < config->n_requests; row = end) {
		while (end < config->n_requests && requests[end].stream == requests[row].stream)
			end++;
		pages[requests[row].stream % config->nodes] +=
			most_pages(&requests[row], end - row);
	}
}
