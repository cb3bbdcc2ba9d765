import { expect, test } from 'vitest'
import { abortedPlain } from '../../src/probe/questions/aborts.ts'
import { answeredBy, told } from './answering.ts'

const paceUs = 100_000

test('requests that a paced limiter rejected unseen between two admissions are not free', async () => {
  let nowUs = 1e6
  let nextUs = 0
  let balance = 100
  const isLetIn = () => {
    if (nowUs < nextUs) return false
    nextUs = nowUs + paceUs
    return true
  }
  const prober = answeredBy(
    ({ abort }) => {
      const wasLeft = abort != null
      // The request that checks for a rejection comes late enough to be admitted.
      nowUs += wasLeft ? 10_000 : paceUs
      if (isLetIn()) balance--
      else if (!wasLeft) return 429
      const times = { sentUs: nowUs, closedUs: nowUs, headersUs: nowUs, doneUs: nowUs }
      return wasLeft
        ? { status: null, columns: { outcome: 'aborted', ...times } }
        : { status: 200, columns: times }
    },
    {
      roomFor: async () => paceUs,
      rest: async (us: number) => {
        nowUs += us
      },
      // A read is counted like any request.
      idleBalance: async () => {
        nowUs += paceUs
        isLetIn()
        return balance
      },
      options: { sleep: async () => {}, timeScale: 1 } as never,
    },
  )
  expect(await told(abortedPlain, 'G-15', prober)).toMatchObject({
    between: { charge: ['charged', 'free'] },
    evidence: [expect.stringMatching(/^before headers: [345] left/)],
  })
})
