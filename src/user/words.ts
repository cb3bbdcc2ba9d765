type WordsOf<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? readonly [First, ...WordsOf<Rest>]
  : readonly [Text]

/** The words of a text, as a list whose type knows them: `words('prompt output')`. */
export const words = <const Text extends string>(text: Text) =>
  text.split(' ') as unknown as WordsOf<Text>
