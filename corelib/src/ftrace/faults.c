/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"

static void copy_cut(char *to, size_t room, struct ftrace_span from)
{
	size_t length = from.length < room ? from.length : room - 1;

	memcpy(to, from.start, length);
	memset(to + length, 0, room - length);
}

int sws_ftrace__trouble(struct sws_ftrace *self, int kind, struct ftrace_span field,
			struct ftrace_span excerpt)
{
	self->trouble.kind = kind;
	self->trouble.type = -1;
	self->trouble.excerpt = excerpt;
	copy_cut(self->trouble.field, sizeof(self->trouble.field), field);
	return SWS_ERROR_BAD_LINE;
}

int sws_ftrace__file(struct sws_ftrace *self, uint64_t line)
{
	struct sws_ftrace_report *report = &self->reports[self->trouble.kind];

	/*
	 * The fault of a first row is filed twice: the second time by the line that settled the
	 * event.
	 */
	if (self->trouble.kind == SWS_FTRACE_NO_FAULT)
		return SWS_ERROR_BAD_LINE;
	self->trouble.kind = SWS_FTRACE_NO_FAULT;
	/* The first rows of an event are read late, so an earlier line may be filed later. */
	if (!report->count || line < report->line) {
		report->line = line;
		report->type = self->trouble.type;
		memcpy(report->field, self->trouble.field, sizeof(report->field));
		copy_cut(report->excerpt, sizeof(report->excerpt), self->trouble.excerpt);
	}
	report->count++;
	return self->config.skip ? SWS_OK : SWS_ERROR_BAD_LINE;
}
