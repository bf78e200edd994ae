/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"

static bool codes_are_good(const struct sws_ftrace *self, const uint32_t *codes, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		if (codes[row] > self->strings.count)
			return false;
	return true;
}

/* Returns true if each row is valid, 1, or null, 0, with the value 0. */
static bool nulls_are_good(const struct ftrace_event *event, const struct ftrace_column *column)
{
	for (size_t row = 0; row < event->rows; row++) {
		uint64_t value = column->type == SWS_FTRACE_STRING
					 ? ((const uint32_t *)column->values)[row]
					 : ((const uint64_t *)column->values)[row];

		if (column->valid[row] > 1 || (!column->valid[row] && value))
			return false;
	}
	return true;
}

static const char *event_fault(const struct sws_ftrace *self, const struct ftrace_event *event)
{
	if (!codes_are_good(self, event->comm, event->rows))
		return "the code of a task's name has no string";
	for (size_t row = 1; row < event->rows; row++)
		if (event->seq[row] <= event->seq[row - 1])
			return "the rows of an event are out of order";
	for (size_t i = 0; i < event->columns_count; i++) {
		const struct ftrace_column *column = &event->columns[i];

		if (column->type == SWS_FTRACE_STRING &&
		    !codes_are_good(self, column->values, event->rows))
			return "the code of a field has no string";
		if (event->ragged && !nulls_are_good(event, column))
			return "a null has a value";
	}
	return NULL;
}

int sws_ftrace_verify(const sws_ftrace *self, const char **reason)
{
	*reason = NULL;
	for (size_t i = 0; i < self->events_count && !*reason; i++)
		*reason = event_fault(self, self->events[i]);
	return *reason ? SWS_ERROR_BROKEN : SWS_OK;
}
