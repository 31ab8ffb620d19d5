/* SPDX-License-Identifier: Apache-2.0 */
/* What libyaml must not be given, for all that read YAML with it. */
#ifndef DVI_BASE_YAML_H
#define DVI_BASE_YAML_H

#include "base/view.h"

/** libyaml compares each %TAG directive with all before it: true for more than anybody writes. */
bool dvi_yaml_has_many_directives(struct dvi_view text);

#endif
