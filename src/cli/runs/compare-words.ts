import type { Options } from '../commands/compare.ts'
import { contractWords, optionWords, storeWords } from '../terminal/next.ts'

/** The stores and contracts of both sides, as words of a next command. */
export const givenWords = ({ db, dbB, contract, contractB }: Options): readonly string[] => [
  ...storeWords(db),
  ...optionWords('--db-b', dbB),
  ...contractWords(contract),
  ...optionWords('--contract-b', contractB),
]
