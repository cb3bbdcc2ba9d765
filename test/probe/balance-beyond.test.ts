import { expect, test } from 'vitest'
import { readCreditsBody } from '../../src/probe/usage-body.ts'

test.each([1e12, 2 ** 63 - 1, 1e308, -1e300])(
  'a balance of %d is more than is kept, so it is not known',
  (remaining) => {
    expect(readCreditsBody({ consumed: 5, remaining })).toMatchObject({
      consumed: 5,
      remaining: null,
    })
  },
)
