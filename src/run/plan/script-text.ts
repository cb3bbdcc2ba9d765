import type { Between, PromptScript } from '../../scenario/steps.ts'
import { TokenText, words } from './token-text.ts'

const signs = [
  '{',
  '}',
  '(',
  ');',
  ' = ',
  ' => ',
  '\n  ',
  '.',
  '[0]',
  ' + ',
  '_id',
  'async ',
  ' !== ',
]
const han =
  '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从'
/** A line of Chinese text: services may cut a text that has no space. */
const lineLength = 40
/** A word and a sign of code have about two tokens. */
const tokensOfPair = 2
/** Codes of a prompt, each in a part of the text of its own. */
const codes = 40
/** `Code 123456.` by an encoding that has a token for each digit. */
const mostTokensOfCode = 10
/** At both ends, since either may be dropped. */
const question = 'List every code of six digits in this text, in order, and nothing else.'
const tokensOfQuestion = 40
/** So many requests in a row repeat as many words. */
const repeatedWords = 6

/** Made-up texts that are no English words, for counting tokens: each text of a run is another one. */
export class ScriptText {
  private readonly seed: number

  /** @param seed the same for all steps of a run, so that they repeat the same words */
  constructor(seed: number) {
    this.seed = seed >>> 0
  }

  /** @param size about so many tokens; of `repeat`, the repeats */
  text(
    script: Exclude<PromptScript, 'words'>,
    size: number,
    index: number,
    between: Between = [0, 1],
  ): string {
    switch (script) {
      case 'repeat': {
        const word = words[(this.seed + (index % repeatedWords)) % words.length]!
        return Array.from({ length: size }, () => word).join(' ')
      }
      case 'code': {
        const pairs = Math.max(1, Math.round(size / tokensOfPair))
        const names = new TokenText(this.seed).text(pairs, index).split(' ')
        const drawn = new Draws(this.seed ^ index)
        return names.map((name) => name + signs[drawn.below(signs.length)]!).join('')
      }
      case 'codes': {
        const drawn = new Draws(this.seed ^ index)
        const among = Math.max(codes, size - codes * mostTokensOfCode - tokensOfQuestion)
        const all = new TokenText(this.seed).text(among, index).split(' ')
        const [from, to] = between
        const step = ((to - from) * among) / codes
        // From the end, so that the places of the others stay.
        for (let at = codes - 1; at >= 0; at--) {
          const place = Math.floor(from * among + at * step + (drawn.below(1_000) / 1_000) * step)
          all.splice(place, 0, `Code ${100_000 + drawn.below(900_000)}.`)
        }
        return `${question} ${all.join(' ')} ${question}`
      }
      case 'han': {
        const drawn = new Draws(this.seed ^ index)
        return Array.from({ length: size }, (_, at) =>
          at % lineLength === lineLength - 1 ? '。\n' : han[drawn.below(han.length)]!,
        ).join('')
      }
    }
  }
}

/** Numbers that follow from a seed. */
class Draws {
  private state: number

  constructor(seed: number) {
    this.state = Math.imul(seed + 0x9e3779b9, 0x85ebca6b) >>> 0
  }

  below(end: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return (this.state >>> 8) % end
  }
}
