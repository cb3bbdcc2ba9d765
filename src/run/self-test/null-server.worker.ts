import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { nullService } from './null-service.ts'

/** The null service in its own thread. */
const { events } = workerData as { readonly events: number }

const server = nullService(events)
server.listen(0, '127.0.0.1', 4096, () => {
  parentPort!.postMessage((server.address() as AddressInfo).port)
})
parentPort!.on('message', () => process.exit(0))
