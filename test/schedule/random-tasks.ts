import fc from 'fast-check'
import type { Task, Turn } from '../../src/scenario/tasks.ts'

/** A turn that is sent once after others, without a delay. */
export const turnLike = (
  name: string,
  after: readonly string[],
  change: Partial<Turn> = {},
): Turn => ({
  ...{ name, step: 'ask', after, join: 'all', delay: { kind: 'fixed', us: 0 } },
  ...{ repeat: { min: 1, max: 1 }, children: 1, context: 'same', takes: [], tools: false },
  ...change,
})

/** A graph without circles: each turn waits for some of those before it. */
export const randomTask: fc.Arbitrary<Task> = fc
  .array(
    fc.record({
      after: fc.array(fc.nat(), { maxLength: 3 }),
      least: fc.integer({ min: 1, max: 3 }),
      more: fc.nat(2),
      children: fc.integer({ min: 1, max: 3 }),
      delayUs: fc.nat(500),
      isFirst: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((drawn) => {
    const turns = drawn.map(({ after, least, more, children, delayUs }, at) => {
      const names = at === 0 ? [] : [...new Set(after.map((nth) => `turn ${nth % at}`))]
      return turnLike(`turn ${at}`, names, {
        ...{ repeat: { min: least, max: least + more }, children },
        delay: { kind: 'uniform', minUs: 0, maxUs: delayUs },
      })
    })
    // The rest of a join is aborted, so nobody else may wait for it.
    const isOnly = (names: readonly string[]) =>
      names.every((name) => turns.filter(({ after }) => after.includes(name)).length === 1)
    return {
      ...{ name: 'task', weight: 1, deadlineUs: null, affinity: null, context: null, prefix: null },
      turns: turns.map((turn, at) =>
        drawn[at]!.isFirst && isOnly(turn.after) ? { ...turn, join: 'first' as const } : turn,
      ),
    }
  })
