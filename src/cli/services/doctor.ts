import { checksOf, machineFacts } from '../../run/self-test/doctor.ts'
import { neededNode } from '../../store/runs/machine.ts'
import type { Options } from '../commands/doctor.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, storeWords } from '../terminal/next.ts'
import { table } from '../terminal/table.ts'

export async function doctorAction({ db, json }: Options): Promise<void> {
  const checks = checksOf(await machineFacts(db, neededNode()))
  const isReady = checks.every(({ state }) => state !== 'bad')
  const next = isReady
    ? nextLine(['calibrate', ...storeWords(db)], 'measures what this machine can send')
    : nextLine(['doctor', ...storeWords(db)], 'checks again, after the remedies')
  process.stdout.write(
    json
      ? `${JSON.stringify(checks, null, 2)}\n`
      : `${[
          ...table(
            checks.map(({ name, state, found }) => [name, state, found]),
            'words',
          ),
          ...checks.flatMap(({ name, remedy }) => (remedy === null ? [] : [`${name}: ${remedy}`])),
        ].join('\n')}\n${next}`,
  )
  if (!isReady) process.exitCode = exit.failed
}
