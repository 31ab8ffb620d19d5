/* SPDX-License-Identifier: Apache-2.0 */
/* On whatever device there is: needs no CPU target. */
#include "example.h"

int main()
{
    try {
        sycl::queue queue;
        float *values = sycl::malloc_shared<float>(3, queue);
        for (int i = 0; i < 3; i++)
            values[i] = static_cast<float>(i);
        scale(queue, values, 3, 2.0f);
        const bool good = values[0] == 0 && values[1] == 2 && values[2] == 4;
        sycl::free(values, queue);
        return good ? 0 : 1;
    } catch (const sycl::exception &) {
        return 77; /* no device */
    }
}
