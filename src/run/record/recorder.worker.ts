import { platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openStore } from '../../store/session/open.ts'
import type { RecorderData } from '../crew/messages.ts'
import { record } from './record.ts'

/** Enough for a run of any length: two row groups, and what DuckDB writes at a time. */
const memoryMiB = 128

/**
 * On a shared core, senders have priority: a flush takes tens of milliseconds, which would become lag. The
 * rows of a sender that fills its core need a tenth of it, which a higher niceness would not get. On Linux
 * niceness belongs to the thread, elsewhere to the process.
 *
 * The first seconds keep the normal priority: on a busy machine, loading and compiling would otherwise take
 * seconds longer, and the first rows survive a kill only after that.
 */
if (platform() === 'linux') setTimeout(() => setPriority(0, 5), 3000).unref()

/** The recorder's thread, the only one with the store during a run. */
const control = parentPort!
const data = workerData as RecorderData
try {
  const store = await openStore(data.dbPath)
  await record(store, data, control, memoryMiB, () => store.close())
} catch (error) {
  const { name, message } = error as Error
  control.postMessage({ type: 'failed', name, message })
  process.exit(1)
}
