#pragma once
// The list of all networks, by family. A new family is one file that declares `std::vector<Network> NAME_networks()`, a
// line here and one in models.cc.

#include <string>
#include <vector>

#include "isomer/models/layers.h"

namespace isomer {

/// A network, or a row of networks that differ in a number.
struct Network {
  std::string name;  ///< of numbered networks, what stands before the number
  std::string description;
  void (*build)(Net& net, int64_t number);  ///< adds inputs, layers and outputs; 0 where there is no number
  Ints numbers = {};                        ///< those that are listed; none: the network has no number
  int64_t max_number = 0;                   ///< any up to this can be asked for
};

std::vector<Network> classic_networks();      // alexnet, vgg, squeezenet
std::vector<Network> resnet_networks();       // resnet, resnext, blocks of resnet
std::vector<Network> inception_networks();    // inception-v3, blocks of it
std::vector<Network> googlenet_networks();    // googlenet
std::vector<Network> densenet_networks();     // densenet
std::vector<Network> mobile_networks();       // mobilenet, regnet
std::vector<Network> nasnet_networks();       // the published nasnet-a
std::vector<Network> nasnet_a_networks();     // nasnet-a as TASO and OCGGS have it
std::vector<Network> recurrent_networks();    // nasrnn, sru and what is made of it
std::vector<Network> transformer_networks();  // bert, gpt-2
std::vector<Network> vision_transformer_networks();
std::vector<Network> linear_attention_networks();  // bert-8

}  // namespace isomer
