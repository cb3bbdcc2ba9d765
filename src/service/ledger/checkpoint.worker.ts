import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** The thread of the checkpointer: on request, it writes SQLite's write-ahead log into the ledger's file, whose path is `workerData`. */
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
