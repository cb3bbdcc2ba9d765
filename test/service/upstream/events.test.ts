import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventData } from '../../../src/service/upstream/events.ts'

test('events are the same wherever the bytes are cut', () => {
  const stream =
    ': hello\r\n\r\ndata: é1\n\ndata:2\ndata: 3\r\n\r\nevent: x\n\ndata: €\n\ndata: unfinished'
  const bytes = new TextEncoder().encode(stream)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const events = new EventData()
      const data = places.slice(1).flatMap((to, at) => events.push(bytes.slice(places[at], to)))
      expect(data).toEqual(['é1', '2\n3', '€'])
    }),
  )
})
