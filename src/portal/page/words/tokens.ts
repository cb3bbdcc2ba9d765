import { type ShownToken, shownTokens } from '../../../tokens/kinds.ts'
import type { Language } from '../../settings/settings.ts'

/** What a customer reads for each kind of tokens, in each language. */
const words: Readonly<Record<ShownToken, Readonly<Record<Language, string>>>> = {
  input: {
    en: 'Input tokens',
    de: 'Eingabe-Tokens',
    es: 'Tokens de entrada',
    fr: 'Jetons en entrée',
    ja: '入力トークン',
  },
  cached: {
    en: 'Cached input',
    de: 'Eingabe aus dem Cache',
    es: 'Entrada en caché',
    fr: 'Entrée en cache',
    ja: 'キャッシュ済み入力',
  },
  cacheWrite: {
    en: 'Cache writes',
    de: 'In den Cache geschrieben',
    es: 'Escritura en caché',
    fr: 'Écriture en cache',
    ja: 'キャッシュ書き込み',
  },
  output: {
    en: 'Output tokens',
    de: 'Ausgabe-Tokens',
    es: 'Tokens de salida',
    fr: 'Jetons en sortie',
    ja: '出力トークン',
  },
  reasoning: {
    en: 'Reasoning',
    de: 'Reasoning-Tokens',
    es: 'Razonamiento',
    fr: 'Raisonnement',
    ja: '推論トークン',
  },
}

/** The words `card.input`, `card.cached` and so on. */
export const tokenWords = (language: Language) =>
  Object.fromEntries(
    shownTokens.map((name) => [`card.${name}`, words[name][language]]),
  ) as Readonly<Record<`card.${ShownToken}`, string>>
