import { expect, test } from 'vitest'
import { startService } from '../../src/service/start.ts'
import { serving } from './serving.ts'

test('a port that is taken is told as what it is, with the way out', async () => {
  const { service } = await serving()
  const port = Number(new URL(service.baseUrl).port)
  await expect(startService({ port })).rejects.toThrow(
    `--port: expected a free port; another program listens on 127.0.0.1:${port}`,
  )
})

test('an address of another machine is told as what it is', async () => {
  await expect(startService({ host: '192.0.2.1' })).rejects.toThrow(
    '--host: expected an address of this machine; got "192.0.2.1"',
  )
})
