import type { LevelClassType } from '@robokids/contracts/enrollment'
import { CodeAndBoard, FirstCircuit, KitOnTable, LiveCall, Notebook, TestTrack } from '../illustrations/BenchScenes.tsx'
import { type Slide, Slideshow } from './Slideshow.tsx'

const kit: Slide = {
  picture: <KitOnTable />,
  caption: 'The kit comes to your door, with every part that the build needs.',
}

const atTheBench: Record<LevelClassType, readonly Slide[]> = {
  basic: [
    kit,
    { picture: <FirstCircuit />, caption: 'A first circuit: battery, switch, resistor and a light.' },
    { picture: <TestTrack />, caption: 'The rover takes its first drive around the table.' },
  ],
  intermediate: [
    kit,
    { picture: <CodeAndBoard />, caption: 'Your child’s own program goes onto the board.' },
    { picture: <FirstCircuit />, caption: 'Every wire has a reason, and your child can tell it.' },
  ],
  advanced: [
    kit,
    { picture: <CodeAndBoard />, caption: 'Sensors in, decisions out: the program plans ahead.' },
    { picture: <TestTrack />, caption: 'It finds its own way, and gets better with each run.' },
  ],
  custom: [
    { picture: <Notebook />, caption: 'An idea becomes a drawing and a list of parts.' },
    kit,
    { picture: <TestTrack />, caption: 'The prototype shows what it can do.' },
  ],
}

const howAClassGoes: readonly Slide[] = [
  { picture: <LiveCall />, caption: 'A live coach on the call, and a group of 5 to 10.' },
  { picture: <Notebook />, caption: 'We draw and plan before we build.' },
  { picture: <CodeAndBoard />, caption: 'Then we program, try, and mend what does not work yet.' },
]

/** The pair between the form and the description. */
export function SignUpSlideshows({ classType }: { classType: LevelClassType }) {
  return (
    <>
      <Slideshow label="What your child builds" slides={atTheBench[classType]} intervalMs={4_000} />
      <Slideshow label="How a class goes" slides={howAClassGoes} intervalMs={5_000} />
    </>
  )
}
