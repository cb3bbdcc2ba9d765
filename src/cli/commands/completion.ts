import { completionAction, shells } from '../terminal/completion.ts'
import { choiceArgument, command } from './command.ts'

export const completionCommand = () =>
  command('completion', {
    does: 'Print a script that completes commands, options and values.',
    examples: [
      'completion bash >> ~/.bashrc',
      'completion fish > ~/.config/fish/completions/assay.fish',
    ],
  })
    .addArgument(choiceArgument('<shell>', 'which shell', shells))
    .action((shell, _, self) => completionAction(shell, self.parent!))
