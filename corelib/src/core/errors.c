/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/core.h"

const char *sws_strerror(int error)
{
	switch ((enum sws_error)error) {
	case SWS_OK:
		return "no error";
	case SWS_ERROR_NO_MEMORY:
		return "out of memory: use smaller chunks or a larger machine";
	case SWS_ERROR_BAD_CONFIG:
		return "a field of the config is out of its range: see the header for the range";
	case SWS_ERROR_BAD_ARGUMENT:
		return "an argument is out of its range: see the header for the range";
	case SWS_ERROR_EXISTS:
		return "the index already holds an item: delete it first";
	case SWS_ERROR_NOT_FOUND:
		return "the index holds no item: insert one first";
	case SWS_ERROR_OUT_OF_ORDER:
		return "rows are out of order: sort them by seq";
	case SWS_ERROR_UNKNOWN_OP:
		return "a row's operation is unknown: use a value of the enum";
	case SWS_ERROR_BAD_LINE:
		return "a line cannot be read: fix it, or skip such lines with --keep-going";
	case SWS_ERROR_BROKEN:
		return "an invariant of the library is broken: please report how to reproduce it";
	}
	return "unknown error code: the library and its caller are of different versions";
}
