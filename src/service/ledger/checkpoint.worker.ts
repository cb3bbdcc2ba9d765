import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** Writes the log of the ledger into its file on request. */
const sql = new DatabaseSync(String(workerData))
const checkpoint = sql.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', (asked: 'checkpoint' | 'close') => {
  if (asked === 'checkpoint') {
    checkpoint.get()
    parentPort?.postMessage('done')
    return
  }
  sql.close()
  parentPort?.close()
})
