import { expect, test } from 'vitest'
import { probeFake } from './fake-api.ts'

test.each([0.05, 0.3])('a charge %d s after its answer does not look free', async (lateS) => {
  const { answers } = await probeFake({ stoppedText: '', chargedLateS: lateS }, [
    'G-09',
    'G-16',
    'G-37',
  ])
  expect(answers['G-09']).toMatchObject({ is: { remaining: ['remaining'] } })
  expect(answers['G-16']).toMatchObject({ is: { 'one token': 'charged', 'no token': 'charged' } })
  expect(answers['G-37']).toMatchObject({ is: { 'second time': 'charged' } })
})
