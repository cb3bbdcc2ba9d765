import { expect, test } from 'vitest'
import type { Behaviour, Kit } from '../../src/service/behaviour.ts'
import { tokenFaults } from '../../src/service/faults/tokens.ts'

test('the fault that cuts streams after a minute leaves a plain answer whole', () => {
  const cut = tokenFaults.find(({ name }) => name === 'stream-cut-60s')!
  const timers: number[] = []
  const kit = {
    clock: { nowUs: () => 0, at: (us: number) => timers.push(us) && (() => {}) },
  } as unknown as Kit
  const honest = { generate: () => () => {} } as unknown as Behaviour
  const { generate } = cut.breaks(honest, kit, 1)
  const answer = (stream: boolean) => generate!({ request: { stream } } as never, {} as never)
  answer(false)
  expect(timers).toEqual([])
  answer(true)
  expect(timers).toEqual([60e6])
})
