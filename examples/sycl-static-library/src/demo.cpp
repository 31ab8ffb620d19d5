/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"
#include <cstdio>

int main()
{
    float values[4] = { 1, 2, 3, 4 };
    scale(values, 4, 2);
    const int above = static_cast<int>(count_above(values, 4, 5)),
              all = static_cast<int>(sum(values, 4));
    std::printf("%d of 4 values are above 5, their sum is %d\n", above, all);
    return above == 2 && all == 20 ? 0 : 1;
}
