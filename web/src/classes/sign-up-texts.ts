import type { LevelClassType } from '@robokids/contracts/enrollment'

export interface SignUpContent {
  /** What the child will have done by the end, one sentence each. */
  learn: readonly string[]
  /** The box in one short sentence. */
  boxInShort: string
  box: readonly string[]
  faq: readonly { question: string; answer: string }[]
}

const anyLevelFaq: SignUpContent['faq'] = [
  {
    question: 'What does my child need at home?',
    answer:
      'A computer or tablet with a camera and a microphone, a steady internet connection and a table to build on. Everything else is in the kit.',
  },
  {
    question: 'How big are the groups?',
    answer: 'Small: 5 to 10 students and a live coach, so every child gets seen and helped while building.',
  },
  {
    question: 'When does the kit arrive?',
    answer:
      'It ships after you sign the waiver and before the program starts, to the address you enter in this form. Kit styles may vary.',
  },
  {
    question: 'Who can register?',
    answer: 'A parent or guardian who is 18 or older. You register and pay, and you sign the waiver for your child.',
  },
  {
    question: 'Are classes recorded?',
    answer: 'Live sessions may be recorded, as described in the terms.',
  },
  {
    question: 'Can I get a refund?',
    answer:
      'All sales are final. If we can’t give your child the seat you paid for, we automatically refund the full amount.',
  },
]

export const signUpContent: Record<LevelClassType, SignUpContent> = {
  basic: {
    learn: [
      'Build a rover that drives, and learn what each part is for.',
      'Wire a circuit with a battery, a switch, a light and two motors.',
      'Change a first program and see right away what it does.',
    ],
    boxInShort: 'A rover to build, two motors, a controller board, sensors, lights and batteries.',
    box: [
      'Rover frame and wheels',
      'Two motors and a driver',
      'Controller board',
      'Light and touch sensors',
      'Battery holder and batteries',
      'Wires, lights and switches',
      'Printed build guide',
    ],
    faq: [
      {
        question: 'Does my child need to know any coding?',
        answer:
          'No. We begin with the parts on the table, and the first lines of code come when the rover is ready for them.',
      },
      {
        question: 'How long is the program?',
        answer: 'Six weeks, live on a video call.',
      },
      ...anyLevelFaq,
    ],
  },
  intermediate: {
    learn: [
      'Build a robot arm that moves to where its program tells it.',
      'Read sensors and let the robot decide what to do.',
      'Write, test and fix a program of their own.',
    ],
    boxInShort: 'A robot arm to build, servo motors, a controller board and sensors.',
    box: [
      'Robot arm parts',
      'Servo motors',
      'Controller board',
      'Distance and touch sensors',
      'Battery holder and batteries',
      'Printed build guide',
    ],
    faq: [
      {
        question: 'Does my child need Level 1 first?',
        answer:
          'It helps, but it is not required. A child who has wired a circuit or written a small program before will feel at home.',
      },
      {
        question: 'How long is the program?',
        answer: 'Six weeks, with one live session a week of 60 to 75 minutes.',
      },
      ...anyLevelFaq,
    ],
  },
  advanced: {
    learn: [
      'Build a walker that finds its own way.',
      'Combine several sensors, and plan what the robot does when they disagree.',
      'Measure, tune and explain how the robot behaves.',
    ],
    boxInShort: 'A walker to build, servo motors, a controller board and sensors.',
    box: [
      'Walker frame and legs',
      'Servo motors and driver',
      'Controller board',
      'Distance, light and tilt sensors',
      'Battery holder and batteries',
      'Printed build guide',
    ],
    faq: [
      {
        question: 'What should my child know already?',
        answer: 'Simple circuits, and programs with conditions and loops. Level 2 is a good way to get there.',
      },
      {
        question: 'How long is the program?',
        answer: 'Eight weeks, live on a video call.',
      },
      ...anyLevelFaq,
    ],
  },
  custom: {
    learn: [
      'Turn an idea into a drawing, a parts list and a plan.',
      'Build and test a prototype with a coach’s help.',
      'Show the finished robot and explain how it came together.',
    ],
    boxInShort: 'A controller board, motors, servos, many sensors and parts to shape.',
    box: [
      'Controller board',
      'Motors, servos and a driver',
      'A wide set of sensors',
      'Battery holder and batteries',
      'Building parts to shape',
      'Printed project notebook',
    ],
    faq: [
      {
        question: 'Does my child need an idea beforehand?',
        answer: 'No. The first sessions are for finding one that is worth building and can be built in time.',
      },
      {
        question: 'How long is the program?',
        answer: 'Six to eight weeks, live on a video call; it depends on the project.',
      },
      ...anyLevelFaq,
    ],
  },
}

export const nextSteps = [
  'You pay by card on the next page.',
  'You sign the waiver. It takes a few minutes.',
  'The kit ships to your home before the first class.',
  'We email you the class link.',
] as const
