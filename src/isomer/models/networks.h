#pragma once
// The list of all networks, by family. To add a family, write a file that defines `std::vector<Network>
// NAME_networks()`, and add a line here and one in models.cc.

#include <string>
#include <vector>

#include "isomer/models/layers.h"

namespace isomer {

/// A network, or a series of networks with a number as parameter.
struct Network {
  std::string name;  ///< for a series: the name before the number
  std::string description;
  void (*build)(Net& net, int64_t number);  ///< adds inputs, layers and outputs; 0 if not a series
  Ints numbers = {};                        ///< the listed numbers; empty if not a series
  int64_t max_number = 0;                   ///< the maximum number of the series
};

std::vector<Network> classic_networks();      // alexnet, vgg, squeezenet
std::vector<Network> resnet_networks();       // resnet, resnext, blocks of resnet
std::vector<Network> inception_networks();    // inception-v3, blocks of it
std::vector<Network> googlenet_networks();    // googlenet
std::vector<Network> densenet_networks();     // densenet
std::vector<Network> mobile_networks();       // mobilenet, regnet
std::vector<Network> nasnet_networks();       // the published nasnet-a
std::vector<Network> nasnet_a_networks();     // nasnet-a as in TASO and OCGGS
std::vector<Network> recurrent_networks();    // nasrnn, lstm, sru and networks made of sru
std::vector<Network> transformer_networks();  // bert, gpt-2
std::vector<Network> vision_transformer_networks();
std::vector<Network> linear_attention_networks();  // bert-8

}  // namespace isomer
