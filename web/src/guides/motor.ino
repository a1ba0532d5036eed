// One motor through an L298N driver.
const int enablePin = 9;  // ENA: the speed, 0 to 255
const int in1Pin = 8;     // IN1: the direction
const int in2Pin = 7;     // IN2: the direction

void setup() {
  pinMode(enablePin, OUTPUT);
  pinMode(in1Pin, OUTPUT);
  pinMode(in2Pin, OUTPUT);
  coast();
}

void forward(int speed) {
  digitalWrite(in1Pin, HIGH);
  digitalWrite(in2Pin, LOW);
  analogWrite(enablePin, speed);
}

void backward(int speed) {
  digitalWrite(in1Pin, LOW);
  digitalWrite(in2Pin, HIGH);
  analogWrite(enablePin, speed);
}

void coast() {
  analogWrite(enablePin, 0);
}

void loop() {
  forward(200);
  delay(2000);
  coast();
  delay(1000);

  backward(120);
  delay(2000);
  coast();
  delay(1000);

  // From a walk to a run, a little faster at each step.
  for (int speed = 80; speed <= 255; speed += 5) {
    forward(speed);
    delay(50);
  }
  coast();
  delay(1000);
}
