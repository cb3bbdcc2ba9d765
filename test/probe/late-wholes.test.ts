import { expect, test } from 'vitest'
import { abortedPlain } from '../../src/probe/questions/aborts.ts'
import { answeredBy, told } from './answering.ts'

const [headersUs, standstillUs] = [30_000, 400_000]

test('complete answers that happen to be late do not make finished requests look aborted in time', async () => {
  let nowUs = 1e6
  let balance = 100
  let wholes = 0
  let left = 0
  const prober = answeredBy(
    ({ abort, endpoint }) => {
      const sentUs = nowUs
      if (endpoint === 'credits') return { status: 200, columns: { sentUs, headersUs: sentUs } }
      if (abort?.at === 'after-us') {
        left++
        nowUs += abort.us
        // An aborted request is charged only if it was finished by then.
        if (abort.us > headersUs) balance--
        return { status: null, columns: { outcome: 'aborted', sentUs, closedUs: nowUs } }
      }
      // The first answer, and the one after the aborted requests.
      nowUs += headersUs + (wholes++ === 0 || left > 0 ? standstillUs : 0)
      balance--
      return { status: 200, columns: { sentUs, headersUs: nowUs, doneUs: nowUs } }
    },
    {
      roomFor: async () => 0,
      idleBalance: async () => balance,
      options: { sleep: async () => {}, timeScale: 1 } as never,
    },
  )
  await prober.read('credits')
  expect(await told(abortedPlain, 'G-15', prober)).toMatchObject({ is: { charge: 'free' } })
})
