import type { LevelClassType } from '@robokids/contracts/enrollment'
import { Drawing } from '../ui/Drawing.tsx'
import { type Slide, Slideshow } from '../ui/Slideshow.tsx'

const atTheBench: Record<LevelClassType, readonly Slide[]> = {
  basic: [
    { picture: <Drawing of="rover" />, caption: 'The green rover: your child builds it from the first screw up.' },
    { picture: <Drawing of="first-circuit" />, caption: 'A first circuit: battery, switch, resistor and a light.' },
    { picture: <Drawing of="code-and-board" />, caption: 'The first lines of code make the wheels turn.' },
  ],
  intermediate: [
    { picture: <Drawing of="arm" />, caption: 'The blue arm: it goes where the program tells it.' },
    { picture: <Drawing of="code-and-board" />, caption: 'Your child’s own program goes onto the board.' },
    { picture: <Drawing of="first-circuit" />, caption: 'Every wire has a reason, and your child can explain it.' },
  ],
  advanced: [
    { picture: <Drawing of="walker" />, caption: 'The violet walker: it finds its own way.' },
    { picture: <Drawing of="code-and-board" />, caption: 'Sensors in, decisions out: the program plans ahead.' },
    { picture: <Drawing of="notebook" />, caption: 'Each run is measured, and the next one is better.' },
  ],
  custom: [
    { picture: <Drawing of="notebook" />, caption: 'An idea becomes a drawing and a list of parts.' },
    {
      picture: <Drawing of="shape-shifter" />,
      caption: 'The orange shape-shifter: it becomes what your child invents.',
    },
    { picture: <Drawing of="code-and-board" />, caption: 'The prototype is programmed, tested and fixed.' },
  ],
}

const howAClassGoes: readonly Slide[] = [
  { picture: <Drawing of="kit-box" />, caption: 'The kit comes to your door before the first class.' },
  { picture: <Drawing of="class-scene" />, caption: 'A live coach on the call, and a group of 5 to 10.' },
  { picture: <Drawing of="notebook" />, caption: 'We draw and plan, build, test, and fix what does not work yet.' },
]

/** The two slideshows between the form and the description. */
export function SignUpSlideshows({ classType }: { classType: LevelClassType }) {
  return (
    <>
      <Slideshow label="What your child builds" slides={atTheBench[classType]} intervalMs={4_000} />
      <Slideshow label="How a class goes" slides={howAClassGoes} intervalMs={5_000} />
    </>
  )
}
